// The memory of heed train, and the configs that are shipped. The rest is in tests/transcripts.
#include <cmath>

#include "tests/support/near.h"
#include "tests/support/source_tree.h"
#include "tests/support/training_run.h"
#include "train/run/metrics.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

// The bytes in "... about 123 MB: ..." or "memory     peak 123 MB (...)", following `before`.
double megabytes_after(const std::string& output, const std::string& before) {
  REQUIRE_MESSAGE(contains(output, before), output);
  return std::stod(output.substr(output.find(before) + before.size()));
}

}  // namespace

TEST_CASE("heed train: the memory of the plan is that of the run") {
  const TempDir folder;
  const std::string config = write_config(folder);
  int runs = 0;
  // Dominated by activations; the same without fused operations; weights and optimizer state.
  for (const std::vector<std::string>& sets : std::vector<std::vector<std::string>>{
           {"model.d_model=192", "model.context_length=128", "train.batch_size=12",
            "model.num_layers=3", "eval={every: 1, batches: 1}"},
           {"model.d_model=60", "model.context_length=128", "train.batch_size=12", "fused=false",
            "model.dropout=0.1", "train.accumulate=2"},
           {"model.d_model=384", "model.num_layers=6", "train.batch_size=1",
            "sample={every: 1, tokens: 3}"}}) {
    std::vector<std::string> words = {"train", config, "--set", "train.steps=2"};
    for (const std::string& set : sets) words.insert(words.end(), {"--set", set});
    words.push_back("--dry-run");
    const ProgramResult plan = run_heed(words);
    REQUIRE_MESSAGE(plan.exit_code == 0, plan.err);
    words.back() = "--out=" + (folder / std::to_string(runs)).string();
    const ProgramResult run = run_heed(words);
    REQUIRE_MESSAGE(run.exit_code == 0, run.err);
    const double planned = megabytes_after(plan.out, "\nmemory     about ");
    const double used = megabytes_after(run.err, "\nmemory     peak ");
    MESSAGE("planned ", planned, " MB, used ", used, " MB");
    CHECK(used > 40);
    CHECK(std::abs(planned - used) < (address_sanitizer ? 3 : 1) * std::max(30.0, 0.15 * used));
    ++runs;
  }
}

TEST_CASE("heed train: every config in configs/ is valid and runs") {
  if constexpr (!is_float64) {
    const TempDir folder;
    const int steps = address_sanitizer ? 2 : 8;  // two do all that eight do, but move the peak
    int configs = 0;
    for (const fs::path& config : layout::shipped_configs()) {
      const std::string path = config.string(), name = config.stem().string();
      const ProgramResult valid = run_heed({"validate", path});
      CHECK_MESSAGE(valid.exit_code == 0, valid.err);
      const std::string first = read_text(path).substr(0, read_text(path).find('\n'));
      const fs::path from_root = fs::relative(config, layout::root());
      const bool of_core = *from_root.begin() == "configs";  // others are found by their names
      CHECK(first == "# heed train " + (of_core ? from_root.string() : name));
      ++configs;
      // Two steps and a checkpoint of 1.5 GB: too slow.
      if (name == "gpt2_124m" || name == "smollm2_135m") continue;
      const ProgramResult run = run_heed({"train", path, "--out", (folder / name).string(), "--set",
                                          "train.steps=" + std::to_string(steps), "--set",
                                          "eval.batches=1", "--threads", "2"});
      CHECK_MESSAGE(run.exit_code == 0, run.err);
      CHECK(read_metrics(folder / name / "metrics.csv").back().step == steps);
      const double used = megabytes_after(run.err, "\nmemory     peak ");
      const double planned =
          megabytes_after(run.err.substr(run.err.find("\nmemory     peak ")), " MB (");
      CAPTURE(name);
      CAPTURE(planned);
      if (!address_sanitizer) CHECK(used == doctest::Approx(planned).epsilon(0.1));
    }
    CHECK(configs >= 11);
  }
}
