// What a model learns to do: its data, its loss, and the text that users exchange with it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "layers/module/module.h"
#include "layers/module/registry.h"
#include "train/data/answer.h"
#include "train/data/dataset.h"
#include "train/tokenizers/tokenizer.h"

namespace heed {

// The sum of the losses over a batch, and the number of counted targets (not ignored_target).
struct BatchLoss {
  Tensor sum;
  int64_t counted = 0;
};

// Counts of correct targets and sequences in an evaluation.
struct Score {
  struct Sequences {
    int64_t all = 0;
    int64_t exact = 0;  // with every target correct
  };
  int64_t targets = 0;
  int64_t right = 0;
  Sequences sequences;
  std::map<int64_t, Sequences> by_length;  // by the number of targets of a sequence
  // How often an example of a class (row) was taken for one of another (column). {}: no classes.
  std::vector<std::vector<int64_t>> confusion;
  // The examples that a model finds hardest, the worst one first, of tasks that can show them.
  struct HardExample {
    int64_t example = 0;
    double loss = 0;  // mean over its targets
  };
  static constexpr size_t most_hardest = 20;
  std::vector<HardExample> hardest;
  // Sorts them and drops those beyond most_hardest.
  void keep_hardest();
};

// The examples of a task as people read them, for lists of those that a model gets wrong.
class ReadableExamples {
 public:
  virtual ~ReadableExamples() = default;
  virtual std::string location(Split split, int64_t example) const = 0;     // "reviews.tsv:17"
  virtual std::string input_text(Split split, int64_t example) const = 0;   // to the model
  virtual std::string target_text(Split split, int64_t example) const = 0;  // as its answer
  virtual std::string answer(Module& model, Split split, int64_t example) const = 0;
};

// The metrics of a model on a set of examples (train/evaluate.h), with what its task has counted.
struct Evaluation : Score {
  double loss = 0;     // mean over the counted targets
  int64_t tokens = 0;  // number of counted targets
  // The loss per byte of the text that the targets stand for, to base 2: it compares models with
  // different tokenizers. For tasks on running text.
  std::optional<double> bits_per_byte = {};
  // Absent if the task counts nothing, as with targets that are numbers.
  // Token-by-token models are scored with teacher forcing: a sequence is then completely correct if
  // and only if greedy decoding produces it.
  std::optional<double> accuracy = {};     // fraction of targets that are correct
  std::optional<double> exact_match = {};  // fraction of sequences with every target correct
  double seconds = 0;                      // that the evaluation took
};

// What a task may need beyond its own fields.
struct TaskSetup {
  std::filesystem::path config_folder;    // base of relative paths in a config
  std::filesystem::path checkpoint = {};  // that the run is loaded from; "": none
  // The checkpoint whose vocabularies are taken: that one, or the one that training starts from.
  std::filesystem::path vocabulary = {};
  // Without its files, a task answers prompts of a model with these lengths, and has no examples.
  // fitted: examples for such a model, without those that are longer.
  enum class Data { needed, fitted, wanted, absent } data = Data::needed;
  int64_t context_length = 0, source_length = 0;
  ConfigNode model = {};   // as its section says
  uint64_t seed = 123;     // of generated data; the same for every run of the config
  int64_t batch_size = 0;  // of training, to check that the data suffices; 0: unknown
};

// An error in one field of a task that its declaration cannot express (a text that is too short).
// Reported as an error of the config, at that field.
class TaskError : public ConfigError {
 public:
  TaskError(std::string wrong_field, const std::string& message)
      : ConfigError(message), field(std::move(wrong_field)) {}
  const std::string field;
};

// A file that a field names ("tokenizer.path") cannot be read or is damaged. It is reported at that
// field; any other IoError is about `path`.
class TaskFileError : public IoError {
 public:
  TaskFileError(std::string naming_field, const std::string& message)
      : IoError(message), field(std::move(naming_field)) {}
  const std::string field;
};

// Returns f(). An error From that it throws becomes a To, TaskError or TaskFileError, at `field`.
template <class From, class To, class F>
decltype(auto) at_field(const std::string& field, F&& f) {
  try {
    return f();
  } catch (const From& error) {
    throw To(field, error.what());
  }
}

// The contents of a data file would have to change. The message has a line for each mistake, which
// begins with the file or with "file:line".
class RowError : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

// Fields of a model by name: {"vocab_size", 65}.
using ModelSizes = std::vector<std::pair<std::string, int64_t>>;

class Task {
 public:
  virtual ~Task() = default;

  // Its examples: batches and fixed ones. Throws ConfigError if the constructor has set none.
  Dataset& data() { return present(data_); }
  const Dataset& data() const { return present(data_); }
  // Fields of the model that the data determines: filled in if the config does not give them,
  // checked if it does.
  virtual ModelSizes model_sizes() const = 0;
  // Whether the model may have a larger context_length and source_length than that.
  bool may_be_longer() const { return may_be_longer_; }
  // The size of this name; 0: there is none.
  int64_t model_size(const std::string& name) const;
  // The required size of the last axis of the model's output; 0: any size. Default: num_classes or,
  // without it, vocab_size, as returned by model_sizes().
  virtual int64_t output_size() const;
  // A line that describes the data in the plan: "tinyshakespeare.txt: 1,115,394 characters, 65
  // different".
  virtual std::string description() const = 0;
  // More about the data for the plan, as lines with a label of one word.
  virtual std::vector<std::pair<std::string, std::string>> details() const { return {}; }
  // What is odd about the data, but could be meant; a line each.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // The files that were read; their size and hash are added to the resolved config.
  const std::vector<std::filesystem::path>& files() const { return files_; }
  // Of a text in any number of files: that of them all, instead.
  const std::string& fingerprint() const { return fingerprint_; }
  // Null for a task whose examples are not shown one by one.
  virtual const ReadableExamples* readable_examples() const { return nullptr; }

  // The loss of the model's output for batch.input. Default: cross entropy of logits (..., V) with
  // the targets; where they are numbers, the squared error of each.
  virtual BatchLoss loss(const Tensor& output, const Batch& batch) const;
  // The targets, if loss() is the sum of their cross entropies: layers/head_loss.h. Default: none.
  virtual Ids loss_targets(const Batch&) const { return {}; }
  // In training: loss(), whose value is there after the backward pass.
  BatchLoss training_loss(Module& model, const Batch& batch) const;
  // Adds a batch to `score`. By default a target is correct if its logit is the largest, and the
  // targets with the same first index are one sequence; a batch without targets adds nothing. Of a
  // task with class_names_ the classes are counted, of batches with `numbers` the hardest examples
  // kept.
  virtual void score(const Array& output, const Batch& batch, Score& score) const;
  // The bytes of running text that the counted targets stand for, to give the loss in bits per
  // byte; 0 if the targets are something else.
  virtual int64_t target_bytes(const Batch&) const { return 0; }

  // ---- text: what a user types to a trained model, and what the model writes

  // The tokenizer of the model's ids; null for tasks without text.
  virtual const Tokenizer* tokenizer() const { return nullptr; }
  // The tokenizer of its source_ids.
  virtual const Tokenizer* source_tokenizer() const { return nullptr; }
  // The names of a classifier's classes, as a checkpoint keeps them (vocabulary.h); "": none.
  std::string classes() const;
  // A readable name for a target. Default: that of the class or token; without these, its number.
  virtual std::string target_name(int32_t target) const;
  // The token before each text, and that at its end, of tasks that have one.
  virtual std::optional<int32_t> start_token() const { return {}; }
  virtual std::optional<int32_t> end_token() const { return {}; }
  // True if the answer continues the prompt, false if it is a separate text.
  virtual bool continues_prompt() const { return true; }
  // Throws ConfigError for a prompt that cannot be answered. This and the following functions
  // require a tokenizer.
  void check_prompt(const std::string& prompt) const { question_of(prompt); }
  // Its message; "" for one that can be.
  std::string mistake_in_prompt(const std::string& prompt) const;
  // By default reply() to question_of() the prompt; where the answer continues the prompt, a
  // sampled continuation. A character that the prompt begins and the continuation ends comes to
  // `each` with the continuation.
  virtual Answer answer(Module& model, const std::string& prompt,
                        const AnswerOptions& options) const;
  // Several answers, whose options have the same lengths. Default: one after the other.
  virtual std::vector<Answer> answers(Module& model, const std::string& prompt,
                                      std::span<const AnswerOptions> options) const;

 protected:
  // What a prompt asks, for reply(): its tokens, unless overridden. Throws ConfigError for one that
  // the model cannot be asked; by default one without tokens, or with unknown ones.
  virtual std::vector<int32_t> question_of(const std::string& prompt) const;
  // What the model, in evaluation mode, makes of it. Default: the likeliest token at its end.
  virtual Answer reply(Module& model, const std::vector<int32_t>& asked,
                       const AnswerOptions& options) const;

  // Set in the constructor:
  std::unique_ptr<Dataset> data_;
  std::vector<std::string> warnings_;
  std::vector<std::string> class_names_;  // of a classifier, by target
  std::vector<std::filesystem::path> files_;
  std::string fingerprint_;
  bool may_be_longer_ = false;

 private:
  static Dataset& present(const std::unique_ptr<Dataset>& data);
};

// The name of a token; its number without a tokenizer.
std::string token_name(const Tokenizer* tokenizer, int32_t id);

// What a checkpoint keeps of the tokenizers, by the name of the file.
std::map<std::string, std::string> stored_tokenizers(const Task& task);

using TaskRegistry = Registry<Task, TaskSetup>;
TaskRegistry& task_registry();
void register_tasks(TaskRegistry& registry);

#define HEED_TASK(Class, name) \
  static_assert(std::is_base_of_v<heed::Task, Class>, name " must derive from Task")

}  // namespace heed
