// Checkpoints: all that training needs to go on as if nothing had happened.
//   RUN/checkpoints/step-000500/
//     model.safetensors      parameters (state_dict.h)
//     optimizer.safetensors  "exp_avg.<parameter>", ..., and "step" (I64, one number)
//     state.safetensors      generators and the place in the data (state_file.h)
//     state.json             step, tokens, best validation loss
//     manifest.json          sizes and checksums of these (manifest.h), written last
// A folder is written beside, flushed and renamed: under its name it is there whole or not at all.
// All failures are IoErrors that name the file and the rule.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "layers/module.h"
#include "train/manifest.h"
#include "train/optimizer.h"
#include "train/state_file.h"

namespace heed {

// Writes RUN/checkpoints/step-<state.step> (one that is there is replaced), removes what processes
// that have ended left half written, and prunes (below). Without an optimizer only weights and
// state are kept. Returns the folder. `config_hash` says which config the run has, for whoever
// resumes to compare (read_manifest).
std::filesystem::path save_checkpoint(const std::filesystem::path& run, const Module& model,
                                      Optimizer* optimizer, const TrainingState& state,
                                      const std::string& config_hash, int64_t keep);

// Leaves the checkpoint of `step` and the keep - 1 sound ones before it, if every byte of that one
// is as it was written, and otherwise touches nothing. Those of later steps go too: training went
// back behind them. Only folders called step-<number> are ever removed.
void prune_checkpoints(const std::filesystem::path& run, int64_t step, int64_t keep);

// The newest checkpoint of a run whose every byte is as it was written. Those that are newer and
// damaged are named in `warnings`. Throws when there is none.
std::filesystem::path newest_good_checkpoint(const std::filesystem::path& run,
                                             std::vector<std::string>& warnings);

// A RUN on the command line: a run folder, which stands for its newest good checkpoint, or one
// folder checkpoints/step-*.
struct RunArgument {
  std::filesystem::path run;  // where config.yaml lies
  std::filesystem::path checkpoint;
};
RunArgument resolve_run(const std::filesystem::path& argument, std::vector<std::string>& warnings);

// Fills the model and, to go on training, the optimizer. All files are checked, down to names and
// shapes, before anything is changed. Weights alone may have been written in the other precision.
// The caller hands on state.streams and state.task_position.
TrainingState load_checkpoint(const std::filesystem::path& checkpoint, Module& model,
                              Optimizer* optimizer);

}  // namespace heed
