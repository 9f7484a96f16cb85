// HEED_KERNELS, which is read once per process: accepted values, and training with each kernel.
#include <doctest/doctest.h>

#include <cmath>

#include "autograd/kernels/choice.h"
#include "tests/support/compare_runs.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;
using detail::all_kernels;
using detail::KernelEntry;

namespace {

const char* const one_wide_head = R"(seed: 5
data: {type: text, path: text.txt, train_fraction: 0.8}
model: {type: gpt, context_length: 128, d_model: 64, num_heads: 1, num_layers: 1}
optimizer: {type: adamw, lr: 1e-2}
train: {steps: 4, batch_size: 3, log_every: 1}
)";

std::string kernel_variable(const KernelEntry& k) { return std::string("HEED_KERNELS=") + k.name; }

struct Trained {
  std::vector<MetricsRow> rows;
  std::string metrics;
  std::string weights;
};

Trained train_with(const KernelEntry& kernel, int threads) {
  const TempDir folder;
  const std::filesystem::path out = folder / "run";
  const ProgramResult result = run_heed({"train", write_config(folder, one_wide_head), "--out",
                                         out.string(), "--threads", std::to_string(threads)},
                                        {kernel_variable(kernel)});
  REQUIRE_MESSAGE(result.exit_code == 0, result.err);
  return {read_metrics(out / "metrics.csv"), rows_of(out), file_of(out, 4, "model.safetensors")};
}

std::string available_names() {
  std::string names;
  for (const KernelEntry& k : all_kernels()) {
    if (k.available()) names += (names.empty() ? "" : ", ") + std::string(k.name);
  }
  return names;
}

}  // namespace

TEST_CASE("kernels: a value that is none, and kernels that are not available") {
  const TempDir folder;
  const std::vector<std::string> command = {"validate", write_config(folder)};
  const ProgramResult wrong = run_heed(command, {"HEED_KERNELS=fp8"});
  CHECK(wrong.exit_code == 2);
  CHECK(
      contains(wrong.err, "HEED_KERNELS=fp8: not in this build; available: " + available_names()));
  for (const KernelEntry& k : all_kernels()) {
    CAPTURE(k.name);
    const ProgramResult result = run_heed(command, {kernel_variable(k)});
    CHECK(result.exit_code == (k.available() ? 0 : 2));
    CHECK(contains(result.err, "not available here; available: " + available_names()) ==
          !k.available());
  }
}

TEST_CASE("kernels: the plan names the chosen one") {
  const TempDir folder;
  const std::string path = write_config(folder);
  for (const KernelEntry& k : all_kernels()) {
    if (!k.available()) continue;
    const std::string plan = run_heed({"validate", path}, {kernel_variable(k)}).out;
    CHECK(contains(plan, text("our own products (", k.description, ")")) ==
          (std::string_view(k.name) != "openblas"));
  }
  CHECK(run_heed({"validate", path}, {"HEED_KERNELS="}).exit_code == 0);
}

TEST_CASE("kernels: training, the same bits with one thread and two, losses as with OpenBLAS") {
  const Trained expected = train_with(all_kernels().back(), 1);  // OpenBLAS
  REQUIRE(expected.rows.size() == 4);
  for (const KernelEntry& k : all_kernels()) {
    CAPTURE(k.name);
    if (!k.available()) {
      MESSAGE("skipped: ", k.name, ", which is not available here");
      continue;
    }
    const Trained one = train_with(k, 1), two = train_with(k, 2);
    CHECK(one.metrics == two.metrics);
    CHECK(one.weights == two.weights);
    REQUIRE(one.rows.size() == expected.rows.size());
    for (size_t i = 0; i < one.rows.size(); ++i) {
      CHECK(std::abs(*one.rows[i].loss - *expected.rows[i].loss) <= 1e-4 * *expected.rows[i].loss);
    }
    // Shows that it was used.
    CHECK((one.weights == expected.weights) == (std::string_view(k.name) == "openblas"));
  }
}

TEST_CASE("kernels: a run that goes on with others says so") {
  if (all_kernels().size() == 1) {
    MESSAGE("skipped: this build has OpenBLAS alone");
    return;
  }
  const TempDir folder;
  const std::string run = (folder / "run").string(), last = kernel_variable(all_kernels().back());
  REQUIRE(run_heed({"train", write_config(folder), "--out", run}, {last}).exit_code == 0);
  const auto resumed = [&](const std::string& variable, const std::string& steps) {
    return run_heed({"train", "--resume", run, "--set", steps}, {variable}).err;
  };
  const std::string says = "kernels: OpenBLAS for ";
  CHECK(!contains(resumed(last, "train.steps=13"), says));
  const std::string other = resumed("HEED_KERNELS=", "train.steps=14");
  CHECK_MESSAGE(contains(other, says), other);
  CHECK(contains(other, " now; the run does not go on with the same bits\n"));
  // Another width changes no bit, and is not worth a word.
  for (const KernelEntry& k : all_kernels()) {
    if (!k.available() || k.needs < Simd::avx2) continue;
    CHECK(!contains(resumed(kernel_variable(k), "train.steps=15"), "the same bits"));
  }
}
