// Loads a trained model from a RUN argument, for the commands that inspect one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/command.h"
#include "train/checkpoint/checkpoint.h"
#include "train/config/run_config.h"

namespace heed::cli {

struct TrainedRun {
  LoadedRun loaded;
  std::unique_ptr<Module> model;  // in evaluation mode
  TrainingState state;
};

// Switches to the program of the config's precision (require_precision), if it names one.
void require_precision_of(const RunTree& config);

// What --set does for these commands.
inline constexpr const char* set_of_run =
    "where files are now: --set data.path=FILE, train.weights=BASE";

// Throws ConfigError if `sets` change anything else.
void check_run_sets(const std::vector<std::string>& sets);

// Loads a run, switching to the program of its precision if necessary. Prints warnings about
// damaged checkpoints to standard error. `sets` may say where data.path and train.weights are now,
// and that keys of train are none, nothing else (ConfigError): the run is as it was trained. If
// training removes the checkpoint before it is read, the newer one is loaded. A `file` takes the
// place of the data, all of it as training examples; ConfigError for a task that reads none.
TrainedRun load_trained(const std::string& run, const std::vector<std::string>& sets,
                        const std::string& file = "", Purpose purpose = Purpose::train);

// The same for commands that need no examples: unless `sets` name the data, it may have moved or
// changed, since the run has kept its vocabularies. Examples are then refused.
inline TrainedRun load_to_ask(const std::string& run, const std::vector<std::string>& sets) {
  const bool has_data = !sets.empty() && !sets.front().starts_with("train.");
  return load_trained(run, sets, "", has_data ? Purpose::train : Purpose::ask);
}

// Throws ConfigError if the model has no tokenizer: it has ids but no text. The message begins with
// `model`, "heed generate: runs/a".
void require_tokenizer(const TrainedRun& run, const std::string& model);

// The ids of --ids 5,17,3 as a batch of one, for models with and without a tokenizer. Throws
// ConfigError for a model of something else than one sequence of tokens, and for ids that it does
// not have or more than it reads; the message begins with `option`.
Input input_of_ids(const Module& model, const std::string& option, const std::string& ids);
inline constexpr const char* ids_help = "the same as ids, 5,17,3: for a model without a tokenizer";

}  // namespace heed::cli
