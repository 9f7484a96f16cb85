// Checkpoints: all that training needs to go on as if nothing had happened.
//   RUN/checkpoints/step-000500/
//     model.safetensors      parameters (state_dict.h)
//     optimizer.safetensors  "exp_avg.<parameter>", ..., and "step" (I64, one number)
//     state.safetensors      generators and the place in the data (state_file.h)
//     state.json             step, tokens, best validation loss
//     config.yaml            the resolved config that it was trained with
//     manifest.json          sizes and checksums of these (manifest.h), written last
//   RUN/checkpoints/best     a link to the one with the lowest validation loss, if it is kept
// A folder is written beside, flushed and renamed: under its name it is there whole or not at all.
// All failures are IoErrors that name the file and the rule.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "layers/module/module.h"
#include "train/checkpoint/manifest.h"
#include "train/checkpoint/state.h"
#include "train/optim/optimizer.h"

namespace heed {

// Which checkpoints of a run stay.
struct Retention {
  int64_t newest = 3;                // this many, and
  std::optional<int64_t> best = {};  // that of this step, if it is sound; `best` links to it
};

// Writes RUN/checkpoints/step-<state.step> (one that is there is replaced), removes what processes
// that have ended left half written, and prunes (below). Without an optimizer only weights and
// state are kept. Returns the folder. `config` is the text of config.yaml.
std::filesystem::path save_checkpoint(const std::filesystem::path& run, const Module& model,
                                      Optimizer* optimizer, const TrainingState& state,
                                      const std::string& config, const Retention& keep);

// Leaves the checkpoint of `step`, the sound ones before it up to keep.newest, and the best one, if
// every byte of that of `step` is as it was written, and otherwise touches nothing. Those of later
// steps go too: training went back behind them. Only folders called step-<number> are ever removed.
void prune_checkpoints(const std::filesystem::path& run, int64_t step, const Retention& keep);

// The path of a file with the config that a checkpoint was trained with. Throws IoError unless it
// is as it was written.
std::filesystem::path config_of_checkpoint(const std::filesystem::path& checkpoint);

// Whether a folder is a run that ended before its first checkpoint.
bool never_saved(const std::filesystem::path& run);

// The newest checkpoint of a run whose every byte is as it was written. Those that are newer and
// damaged are named in `warnings`. Throws when there is none.
std::filesystem::path newest_good_checkpoint(const std::filesystem::path& run,
                                             std::vector<std::string>& warnings);

// A RUN on the command line: a run folder, which stands for its newest good checkpoint, or one
// folder checkpoints/step-*, or the link checkpoints/best.
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
