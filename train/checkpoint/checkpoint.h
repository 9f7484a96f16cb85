// Checkpoints: everything that training needs to resume with the same bits.
//   RUN/checkpoints/step-000500/
//     model.safetensors      parameters (state_dict.h)
//     optimizer.safetensors  "exp_avg.<parameter>", ..., and "step" (I64, one number)
//     state.safetensors      step, tokens, best validation loss, random generators and the position
//                            in the data (state.h)
//     config.yaml            the resolved config of the run
//     tokenizer.json         where the config names a tokenizer file (train/tokenizers/)
//     manifest.json          sizes and checksums of these files (manifest.h), written last
//   RUN/checkpoints/best     a link to the one with the lowest validation loss, if it is kept
// A checkpoint is written to a temporary folder, flushed to disk and renamed: under its final name
// it is complete or absent. All failures are IoErrors that name the file and the rule.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "layers/module/module.h"
#include "train/checkpoint/manifest.h"
#include "train/checkpoint/state.h"
#include "train/optim/optimizer.h"

namespace heed {

// Which checkpoints of a run are kept.
struct Retention {
  int64_t newest = 3;                // the last `newest` ones, and
  std::optional<int64_t> best = {};  // that of this step if it is intact; `best` links to it
};

using MoreFiles =
    std::function<void(const std::filesystem::path&, std::map<std::string, Fingerprint>&)>;

// Writes RUN/checkpoints/step-<state.step>, replacing an existing one. Removes incomplete
// checkpoints of processes that have ended, and prunes (see below). With optimizer == nullptr only
// weights and state are saved. `texts` are further files: config.yaml, which is required, and what
// the task needs (file name, contents); `more` writes others and adds them to the manifest.
// `made_with` goes there, too. Returns the folder.
std::filesystem::path save_checkpoint(const std::filesystem::path& run, const Module& model,
                                      Optimizer* optimizer, const TrainingState& state,
                                      const std::map<std::string, std::string>& texts,
                                      const Retention& keep,
                                      const std::map<std::string, std::string>& made_with = {},
                                      const MoreFiles& more = {});

// Removes the checkpoints that are no longer wanted. Kept are that of `step`, the intact ones
// before it up to keep.newest in all, and the best one. Checkpoints of later steps are removed,
// since training has resumed from `step`. If any byte of the checkpoint of `step` is damaged,
// nothing is removed. Only folders named step-<number> are ever removed. Of a link with such a name
// only the link goes. Both functions refuse a `checkpoints` that is a link: it could lead to the
// checkpoints of another run.
void prune_checkpoints(const std::filesystem::path& run, int64_t step, const Retention& keep);

// What resuming from `step` removes, as a line for the user; "" if there is no later checkpoint.
std::string going_back(const std::filesystem::path& run, int64_t step);

// The name of a checkpoint's folder in RUN/checkpoints: "step-000500".
std::string step_name(int64_t step);

// The path of the config.yaml in a checkpoint. Throws IoError if the file is damaged.
std::filesystem::path config_of_checkpoint(const std::filesystem::path& checkpoint);

// True if the folder is a run that ended before its first checkpoint.
bool never_saved(const std::filesystem::path& run);

// The newest checkpoint of a run that is undamaged in every byte. Newer, damaged ones are reported
// in `warnings`. Looks again if a process that trains has meanwhile removed one. Throws IoError if
// there is none.
std::filesystem::path newest_good_checkpoint(const std::filesystem::path& run,
                                             std::vector<std::string>& warnings);

// A RUN argument on the command line: a run folder (meaning its newest good checkpoint), a folder
// checkpoints/step-*, the link checkpoints/best, or a copy of a checkpoint outside of its run.
struct RunArgument {
  std::filesystem::path run;         // the folder that holds config.yaml
  std::filesystem::path checkpoint;  // equal to `run` for a copy
  bool is_copy() const { return run == checkpoint; }
};
RunArgument resolve_run(const std::filesystem::path& argument, std::vector<std::string>& warnings);

// The same without choosing a checkpoint of a run: `checkpoint` is then empty. Throws IoError if
// there is no such folder.
RunArgument parse_run(const std::filesystem::path& argument);

// Loads the model and, to resume training, the optimizer (nullptr: weights only). All files are
// checked, including names and shapes, before anything is changed. With weights only, the
// checkpoint may have the other precision. The caller must restore state.streams and
// state.task_position.
TrainingState load_checkpoint(const std::filesystem::path& checkpoint, Module& model,
                              Optimizer* optimizer);

// The state of an optimizer in a safetensors file: the number of its steps and, of each parameter,
// what it keeps, under PyTorch's names: "exp_avg.head.weight". load_optimizer throws IoError for
// the state of other parameters, another precision, or another number of steps, if given; the
// optimizer is then unchanged.
Fingerprint save_optimizer(const std::filesystem::path& path, Optimizer& optimizer);
void load_optimizer(Optimizer& optimizer, const std::filesystem::path& path,
                    std::optional<int64_t> step = {});

}  // namespace heed
