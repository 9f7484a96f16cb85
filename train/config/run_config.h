// A whole run as a config describes it: every section with its fields and defaults.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autograd/base/real.h"
#include "layers/config/fields.h"
#include "train/data/task.h"

namespace heed {

struct RandomConfig {
  std::string generators = "separate";
  std::string dropout_stream = "mcg31";
  void fields(Fields& f);
};

struct TrainConfig {
  bool required = true;    // whether the config must say how long to train
  int64_t steps = 0;       // optimizer steps
  int64_t batch_size = 0;  // sequences of one micro-batch
  int64_t accumulate = 1;  // micro-batches of a step
  std::optional<double> clip_grad_norm;
  int64_t log_every = 10;
  bool overfit_batch = false;
  void fields(Fields& f);
};

struct EvalConfig {
  std::optional<int64_t> every;     // steps
  std::optional<int64_t> batches;   // of batch_size examples; none: all examples
  std::optional<int64_t> patience;  // evaluations without gain before training stops
  void fields(Fields& f);
};

struct CheckpointConfig {
  std::optional<int64_t> every;  // steps; one always follows the last step
  int64_t keep = 3;
  bool best = false;
  bool optimizer_state = true;
  void fields(Fields& f);
};

struct SampleConfig {
  std::optional<int64_t> every;  // steps
  std::string prompt = "\n";
  int64_t tokens = 200;
  double temperature = 0.8;
  std::optional<int64_t> top_k;
  std::optional<double> top_p;
  void fields(Fields& f);
};

// What a config has to contain: all that training needs, or just a model to look at.
enum class Purpose { train, model };

struct RunConfig {
  Purpose purpose = Purpose::train;

  int64_t seed = 123;
  std::string precision = precision_name;
  bool fused = true;
  bool anomaly = false;
  std::vector<std::string> plugins;
  RandomConfig random;
  Spec data;
  Spec model;
  Spec optimizer{"adamw", {}};
  Spec schedule{"constant", {}};
  TrainConfig train;
  EvalConfig eval;
  CheckpointConfig checkpoint;
  SampleConfig sample;

  void fields(Fields& f);
  // A field of the model, 0 when it has none of that name.
  int64_t model_size(const std::string& field) const;
  // How many tokens the model sees at once: its own context_length, or that of the data.
  int64_t context_length() const;
  // The learning rate that the schedule starts from.
  double lr() const;
};

// All that a config may say. Sizes that model and data take from each other count as filled in.
std::vector<FieldInfo> run_fields();

// A config that was read and found right.
struct LoadedRun {
  RunConfig config;
  ConfigNode resolved;         // every key with its value, paths absolute, hash of the data
  std::unique_ptr<Task> task;  // null when the config has no data section
};

// The tree of a config file with `--set a.b=c` arguments applied. Throws IoError, ConfigError.
ConfigNode read_run_tree(const std::filesystem::path& config,
                         const std::vector<std::string>& sets = {});

// Loads the plugins, reads the sections and makes the task; relative paths start at `folder`. The
// data comes first, for it decides sizes of the model (vocab_size) and takes others from it
// (context_length). Throws ConfigError with every mistake at once, or IoError for a data file that
// cannot be read.
LoadedRun load_run(ConfigNode tree, const std::filesystem::path& folder,
                   Purpose purpose = Purpose::train);

// Seeds the random streams and sets the switches that the config asks for.
void apply_settings(const RunConfig& config);

}  // namespace heed
