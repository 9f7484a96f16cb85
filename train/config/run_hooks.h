// What takes part in a run beside the trainer: the class of train/run_hooks.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "layers/module/registry.h"
#include "train/config/run_config.h"
#include "train/files/fingerprint.h"

namespace heed {

struct MetricsRow;
struct Plan;

// How training ends. no_gain: the validation loss has not improved for eval.patience evaluations.
enum class Ending { finished, out_of_time, interrupted, no_gain };

// A run in training. All members live at least until training ends.
struct RunInTraining {
  std::filesystem::path folder;
  const LoadedRun& loaded;
  Module& model;
  std::function<void(const std::string&)> say = {};  // to the terminal and to log.txt
};

// Its functions are called from the top to the bottom. Those of the last two parts are called on
// one object each, all others on objects that are made for the call.
class RunHooks {
 public:
  using Path = std::filesystem::path;
  virtual ~RunHooks() = default;

  // ---- A command begins.

  // Loads the libraries of --plugin; `trusted`: configs may name others (--trust-plugins). False if
  // it loads none. Throws IoError or ConfigError.
  virtual bool load_libraries(const std::vector<std::string>& /*named*/, bool /*trusted*/) {
    return false;
  }
  // Throws IoError if that has found only a library for the other precision.
  virtual void require_this_precision() const {}

  // ---- A config is read. Paths in it are relative to `folder`.

  // Before any section is read. Adds mistakes; throws IoError with a line for each file that cannot
  // be read.
  virtual void before_reading(const ConfigNode& /*config*/, const Path& /*folder*/,
                              ConfigErrors& /*errors*/) {}
  // The folder with the vocabularies of the data (train/tokenizers/vocabulary.h); "" if the data
  // makes its own.
  virtual Path vocabularies(const RunConfig& /*config*/, const Path& /*folder*/) const {
    return {};
  }
  // Adds the mistakes in what sections say together. `tree` is the config as it was written.
  virtual void check(const RunConfig& /*config*/, const ConfigNode& /*tree*/,
                     ConfigErrors& /*errors*/) const {}
  // Finds the files that its keys name, for a run that is loaded from a checkpoint, or from none:
  // "". Adds those that cannot be read.
  virtual void find_files(LoadedRun& /*run*/, const ConfigNode& /*tree*/, const Path& /*folder*/,
                          const Path& /*checkpoint*/, ConfigErrors& /*unreadable*/) const {}
  // Completes LoadedRun::resolved and its warnings.
  virtual void resolve(LoadedRun& /*run*/, const Path& /*folder*/) const {}
  // Throws ConfigError if a run that began with one config cannot go on with another.
  virtual void check_resumed(const ConfigNode& /*before*/, const ConfigNode& /*now*/) const {}
  // For LoadedRun::made_with(), and options of `heed` for LoadedRun::program().
  virtual std::map<std::string, std::string> made_with(const LoadedRun& /*run*/) const {
    return {};
  }
  virtual std::string options(const LoadedRun& /*run*/) const { return ""; }

  // ---- A model is made: in the dry run of a plan (train/plan.h), to be trained, or to be asked.

  // Before the first batch. Adds mistakes at their places. In a dry run nothing is read.
  virtual void prepare(Module& /*model*/, const LoadedRun& /*run*/,
                       ConfigErrors& /*errors*/) const {}
  // Of a model that is asked: after the weights of its checkpoint.
  virtual void on_loaded(Module& /*model*/, const LoadedRun& /*run*/) const {}
  // In the dry run, about the model, and after it, about the run: a line for each warning. Must
  // leave no gradient. The plan is complete but for the warnings.
  virtual std::vector<std::string> about_model(const LoadedRun& /*run*/, Module& /*model*/) const {
    return {};
  }
  virtual std::vector<std::string> about_run(const LoadedRun& /*run*/, const Plan& /*plan*/) const {
    return {};
  }
  // Lines of the plan, by their label, below that of the model.
  virtual std::vector<std::pair<std::string, std::string>> details(const LoadedRun& /*run*/) const {
    return {};
  }

  // ---- The run trains, on each worker. These may change it, alike on all, and throw.

  // Training starts, or resumes from run.loaded.checkpoint.
  virtual void on_start(const RunInTraining& /*run*/) {}
  // Before each update. Why one with gradients of this norm is left out; "": it is not.
  virtual std::string objection(double /*grad_norm*/) { return ""; }
  // Before and after an evaluation or a sample: exchanges the weights for others, and back.
  virtual void exchange_weights() {}
  // On rank 0: writes files into the folder of a checkpoint, and adds them to its manifest.
  virtual void on_save(const Path& /*folder*/, std::map<std::string, Fingerprint>& /*files*/) {}

  // ---- The run trains, on rank 0. These must not throw, since they must never end a run. They are
  // called between two steps, and leave gradients and random streams unchanged.

  // True for one that writes on standard output: it is there for `heed train --json` alone.
  virtual bool prints() const { return false; }
  // The run was planned and will begin after `step`; of a dry run, which has no folder (""), too.
  virtual void on_plan(const Plan& /*plan*/, const LoadedRun& /*loaded*/, const Path& /*folder*/,
                       int64_t /*step*/) {}
  // Training starts, or resumes after `step`.
  virtual void on_begin(const RunInTraining& /*run*/, int64_t /*step*/) {}
  // The gradients of `step` are complete, and weights do not have their update yet. Times `scale`
  // they are those of the mean loss, before clipping.
  virtual void on_gradients(int64_t /*step*/, double /*scale*/) {}
  // A row of metrics.csv (train/run/metrics.h) was written. If an interrupt had stopped its
  // evaluation, the row comes again, complete, when the run is resumed.
  virtual void on_metrics(const MetricsRow& /*row*/) {}
  // The validation set was evaluated after `step`.
  virtual void on_evaluation(int64_t /*step*/, const Evaluation& /*evaluation*/) {}
  // `step` was the last one. `diverged`: a value is not finite, and the model may be unusable.
  virtual void on_end(int64_t /*step*/, bool /*diverged*/) {}
  // Everything is saved, and training ends after `step`.
  virtual void on_ended(Ending /*ending*/, int64_t /*step*/) {}
  // How to look at the run when it has ended, for the last lines on a terminal: a command, or a
  // file and what opens it; "" if there is nothing to see. The run is the one that began.
  virtual std::string way_to_look(const RunInTraining& /*run*/) { return ""; }
  // A message for the user about a failure, returned once; otherwise "".
  virtual std::string trouble() { return ""; }
};

using RunHooksRegistry = Registry<RunHooks>;
RunHooksRegistry& run_hooks_registry();
void register_run_hooks(RunHooksRegistry& registry);

#define HEED_RUN_HOOKS(Class, name) \
  static_assert(std::is_base_of_v<heed::RunHooks, Class>, name " must derive from RunHooks")

// Calls call(hooks) for one of each registered class, in the order of their names.
template <class Call>
void for_each_hook(const Call& call) {
  for (const std::unique_ptr<RunHooks>& each : run_hooks_registry().make_all()) call(*each);
}

// The model of a run, prepared. Throws ConfigError with all mistakes.
std::unique_ptr<Module> make_model(const LoadedRun& run);

}  // namespace heed
