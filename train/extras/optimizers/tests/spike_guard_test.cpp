#include "train/extras/optimizers/spike_guard.h"

#include "tests/support/near.h"
#include "train/extras/optimizers/tests/runs_of_optimizers.h"
#include "train/files/safetensors.h"

using namespace heed;
using namespace heed::testing;

namespace {

// A limit that gradients of a small model pass every few steps.
const std::vector<std::string> guarded = {
    "train={steps: 60, batch_size: 1, log_every: 1, skip_spikes: 1.5}",
    "checkpoint={every: 30, keep: 9}"};

std::vector<double> state_of_spikes(const TempDir& folder, const std::string& run, int step) {
  const std::vector<std::byte> bytes =
      SafeTensors(checkpoint_of(folder / run, step) / "spikes.safetensors").bytes("state");
  std::vector<double> state(bytes.size() / sizeof(double));
  std::memcpy(state.data(), bytes.data(), bytes.size());
  return state;
}

}  // namespace

TEST_CASE("spikes: the mean and the variance of all norms, then of the last hundred or so") {
  SpikeStatistics statistics;
  std::vector<double> norms;
  for (int step = 0; step < 90; ++step) {
    norms.push_back(2 + std::sin(step * 0.7));
    CHECK(!statistics.add(norms.back(), 6));
  }
  double mean = 0, variance = 0;
  for (const double each : norms) mean += each / 90;
  for (const double each : norms) variance += (each - mean) * (each - mean) / 90;
  CHECK(statistics.state.mean == doctest::Approx(mean).epsilon(1e-12));
  CHECK(statistics.state.variance == doctest::Approx(variance).epsilon(1e-12));
  for (int step = 0; step < 2000; ++step) statistics.add(5 + std::sin(step * 0.7), 1e9);
  CHECK(statistics.state.mean == doctest::Approx(5).epsilon(0.02));
  CHECK(statistics.state.norms == 2090);
}

TEST_CASE("spikes: what counts as one") {
  SpikeStatistics statistics;
  // The first norms are not judged, whatever they are.
  for (int step = 0; step < 20; ++step) CHECK(!statistics.add(step == 10 ? 1000 : 1 + step % 2, 1));
  SpikeStatistics calm;
  for (int step = 0; step < 50; ++step) CHECK(!calm.add(1 + step % 2, 2));  // 1.5, deviation 0.5
  const SpikeStatistics::State before = calm.state;
  CHECK(before.mean == doctest::Approx(1.5));
  CHECK(std::sqrt(before.variance) == doctest::Approx(0.5));
  SpikeStatistics below = calm;
  CHECK(!below.add(2.49, 2));
  CHECK(calm.add(100, 2));
  CHECK(calm.deviations() == doctest::Approx(197));
  CHECK(calm.state.spikes == 1);
  CHECK(calm.state.mean == doctest::Approx(1.5 + 1.0 / 51));  // the limit, 2.5, enters
  SpikeStatistics flat;
  for (int step = 0; step < 50; ++step) CHECK(!flat.add(step < 49 ? 1.0 : 2.0, 3));
}

TEST_CASE("spikes: norms that stay high are left out a few times only") {
  SpikeStatistics statistics;
  for (int step = 0; step < 200; ++step) statistics.add(1 + 0.1 * (step % 2), 6);
  CHECK(statistics.state.spikes == 0);
  for (int step = 0; step < 100; ++step) statistics.add(3, 6);
  CHECK(statistics.state.spikes > 2);
  CHECK(statistics.state.spikes < 30);
}

TEST_CASE(
    "spikes: a step that is left out changes neither weights nor the optimizer, and is told") {
  const TempDir folder;
  EachStep steps;
  train_small(folder, "run", guarded, &steps);
  REQUIRE(steps.after.size() == 60);
  const std::string log = read_text(folder / "run/log.txt");
  int64_t left_out = 0, others = 0;
  for (size_t step = 2; step <= 60; ++step) {
    const bool told = contains(log, text("step ", step, " is left out: the norm of its gradients"));
    bool same = true;
    for (size_t p = 0; p < steps.after[0].size(); ++p) {
      const auto now = steps.after[step - 1][p].span(), before = steps.after[step - 2][p].span();
      same = same && std::equal(now.begin(), now.end(), before.begin());
    }
    CHECK(same == told);
    (told ? left_out : others) += 1;
  }
  CHECK(left_out > 1);
  CHECK(others > 40);
  CHECK(contains(log, text("; ", left_out, " so far")));
  const std::vector<double> state = state_of_spikes(folder, "run", 60);
  CHECK(state[0] == 60);
  CHECK(state[3] == static_cast<double>(left_out));
  const SafeTensors optimizer(checkpoint_of(folder / "run", 60) / "optimizer.safetensors");
  CHECK(optimizer.integers("step").front() == 60 - left_out);
}

TEST_CASE("spikes: a run goes on with the same bits, its mean included") {
  check_resumed(guarded, 30, 60);
}

TEST_CASE("spikes: a state that no run can have is refused") {
  for (const double wrong : {-1.0, static_cast<double>(not_a_number)}) {
    const TempDir folder;
    train_small(folder, "run", guarded);
    const std::filesystem::path checkpoint = checkpoint_of(folder / "run", 60);
    const std::vector<double> state = {60, wrong, 1, 0};
    Manifest manifest = read_manifest(checkpoint);
    manifest.files["spikes.safetensors"] =
        write_safetensors(checkpoint / "spikes.safetensors",
                          {{"state", Dtype::F64, {4}, std::as_bytes(std::span(state))}});
    write_manifest(checkpoint, manifest);
    Trainer trainer(load_small(folder, guarded), RunFolder::open(folder / "run"), checkpoint);
    CHECK(contains(error_of([&] { trainer.train(); }), "expected numbers of at least 0, got "));
  }
}
