// The config of a whole run: every section with its fields and defaults.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autograd/base/real.h"
#include "layers/config/errors.h"
#include "layers/config/fields.h"
#include "layers/config/section_keys.h"
#include "train/data/task.h"

namespace heed {

struct RandomConfig {
  std::string generators = "separate";
  std::string dropout_stream = "mcg31";
  void fields(Fields& f);
};

struct TrainConfig {
  bool required = true;    // whether steps and batch_size must be given
  int64_t steps = 0;       // optimizer steps
  int64_t batch_size = 0;  // sequences per micro-batch
  int64_t accumulate = 1;  // micro-batches per step
  std::optional<double> clip_grad_norm, max_seconds;
  int64_t log_every = 10;
  bool overfit_batch = false;
  std::string recompute = "none";
  SectionKeys extra{"train"};
  void fields(Fields& f);
  void check(ConfigErrors& errors, const ConfigNode& at) const { extra.check(errors, at); }
};

struct EvalConfig {
  std::optional<int64_t> every;     // steps
  std::optional<int64_t> batches;   // of batch_size examples; default: all examples
  std::optional<int64_t> patience;  // evaluations without improvement before training stops
  SectionKeys extra{"eval"};
  void fields(Fields& f);
  void check(ConfigErrors& errors, const ConfigNode& at) const { extra.check(errors, at); }
};

struct CheckpointConfig {
  std::optional<int64_t> every;  // steps; one is always saved after the last step
  int64_t keep = 3;
  bool best = false;
  bool optimizer_state = true;
  SectionKeys extra{"checkpoint"};
  void fields(Fields& f);
  void check(ConfigErrors& errors, const ConfigNode& at) const { extra.check(errors, at); }
};

struct SampleConfig {
  std::optional<int64_t> every;  // steps
  std::string prompt = "\n";
  int64_t tokens = 200;
  double temperature = 0.8;
  std::optional<int64_t> top_k;
  std::optional<double> top_p;
  std::vector<int64_t> end;
  void fields(Fields& f);
};

// What a config must contain: everything for training, or only a model to inspect. A trained model
// that is only asked may have lost its data, and one that is tested has other data.
enum class Purpose { train, model, ask, test };

struct RunConfig {
  Purpose purpose = Purpose::train;

  int64_t seed = 123;
  std::string precision = precision_name;
  bool fused = true;
  bool anomaly = false;
  RandomConfig random;
  Choice data;
  Choice model;
  Choice optimizer{"adamw"};
  Choice schedule{"constant"};
  TrainConfig train;
  EvalConfig eval;
  CheckpointConfig checkpoint;
  SampleConfig sample;
  SectionKeys extra{"run"};

  void fields(Fields& f);
  void check(ConfigErrors& errors, const ConfigNode& at) const { extra.check(errors, at); }
  // How many tokens the model sees at once: its own context_length, else that of the data.
  int64_t context_length() const;
};

// All fields of a config. Sizes that model and data take from each other have defaults here.
std::vector<FieldInfo> run_fields();

// Thrown with all files that a config names and that cannot be read.
class UnreadableFiles : public IoError, public ListsMistakes {
 public:
  explicit UnreadableFiles(const ConfigMistakes& all) : IoError(all.what()), ListsMistakes(all) {}
};

// A config that was read and checked.
struct LoadedRun {
  RunConfig config;
  ConfigNode resolved;         // every key with its value; absolute paths; hash of the data
  std::unique_ptr<Task> task;  // null if the config has no data section
  // The safetensors file to start from; "" for a run that draws its weights, or goes on from a
  // checkpoint that has all of them.
  std::filesystem::path weights = {};
  std::filesystem::path checkpoint = {};   // the folder that it goes on from or is loaded from
  std::vector<std::string> warnings = {};  // about that file, for the user

  // The task's line about its data, and whether a single batch of it is used.
  std::string data_description() const;

  // What a checkpoint keeps of the config and its data, by file name: config.yaml, and the
  // tokenizer if the config names a file for it.
  std::map<std::string, std::string> texts() const;

  // What the bits of a run depend on beside its config: "heedgrad", its version; "kernels"; and
  // what hooks add, such as each library of layers with its checksum.
  std::map<std::string, std::string> made_with() const;

  // "heed", with the options that the run needs; quoted for a shell.
  std::string program() const;
};

// A config as it is written, and the mistakes that do not stop the rest from being read: duplicate
// keys, say, or a wrong --set.
struct RunTree {
  RunTree(ConfigNode whole, ConfigErrors found = {})
      : root(std::move(whole)), mistakes(std::move(found)) {}
  ConfigNode root;
  ConfigErrors mistakes;
};

// Reads a config file and applies `--set a.b=c` arguments. The paths in these (data.path, plugins)
// are relative to the current folder and become absolute. Throws IoError; ConfigError if the file
// cannot be parsed.
RunTree read_run_tree(const std::filesystem::path& config,
                      const std::vector<std::string>& sets = {});

// Loads the plugins that may be loaded, reads the sections and creates the task. Relative paths are
// relative to `folder`. The data is read first: it determines sizes of the model (vocab_size) and
// takes others from it (context_length). For a run that is loaded from a checkpoint, `checkpoint`
// is its folder: the tokenizer in it is taken, wherever the config says that it was. Throws
// ConfigError with all mistakes at once, those of `config` included; UnreadableFiles if a data file
// or a plugin cannot be read and nothing else is wrong.
LoadedRun load_run(RunTree config, const std::filesystem::path& folder,
                   Purpose purpose = Purpose::train, const std::filesystem::path& checkpoint = {});

// The config of a run, with the defaults of fields added since it was written. Throws ConfigError.
ConfigNode with_defaults(const ConfigNode& resolved);

// Seeds the random streams and sets the global switches given in the config.
void apply_settings(const RunConfig& config);

}  // namespace heed
