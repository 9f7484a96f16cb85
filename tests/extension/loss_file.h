// Following a run: losses.txt in the run folder has a line for each evaluation.
#pragma once

#include <heed/train/run_hooks.h>

#include <fstream>

namespace extension {

using namespace heed;

class LossFile final : public RunHooks {
 public:
  static constexpr const char* help = "the validation losses as losses.txt";
  using Config = NoFields;

  explicit LossFile(const Config&) {}

  void on_begin(const RunInTraining& run, int64_t) override { file_ = run.folder / "losses.txt"; }
  void on_evaluation(int64_t step, const Evaluation& evaluation) override {
    std::ofstream(file_, std::ios::app) << step << " " << evaluation.loss << "\n";
  }

 private:
  std::filesystem::path file_;
};

}  // namespace extension

HEED_RUN_HOOKS(extension::LossFile, "loss_file");
