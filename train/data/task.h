// What a model is trained on: batches for training, a fixed set for validation.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "autograd/random/fills.h"
#include "autograd/random/generator.h"
#include "layers/module/registry.h"
#include "train/data/generate.h"
#include "train/data/tokenizer.h"

namespace heed {

// A target that does not count for the loss (PyTorch's ignore_index).
inline constexpr int32_t ignored_target = -100;

// A batch of B sequences: the model's input and the expected output.
struct Batch {
  Input input;  // ids (B, T), or x (B, ...); mask if padded; source_ids for encoder_decoder
  // One per output row, or ignored_target: (B, T) tokens or (B) classes. None if the task's own
  // loss() needs no ids.
  Ids targets;
};

// The shape of what the model is given: of the ids or, without ids, of x.
const Shape& input_shape(const Batch& batch);

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
};

// The metrics of a model on a set of examples, computed from their Score (train/evaluate.h).
struct Evaluation {
  double loss = 0;     // mean over the counted targets
  int64_t tokens = 0;  // number of counted targets
  // As the task counts them. Token-by-token models are scored with teacher forcing: a sequence is
  // then completely correct if and only if greedy decoding produces it.
  double accuracy = 0;                            // fraction of targets that are correct
  double exact_match = 0;                         // fraction of sequences with every target correct
  std::map<int64_t, Score::Sequences> by_length;  // by the number of targets
  double seconds = 0;                             // that the evaluation took
};

// Options for answering a prompt (Task::answer). Tasks with a single correct answer decode greedily
// and ignore `tokens` and `sampling`.
struct AnswerOptions {
  int64_t tokens = 200;
  SamplingOptions sampling = {};
  int64_t context_length = 0;                         // of the model
  std::function<void(const std::string&)> each = {};  // called with each new piece of text
  std::function<bool()> stop = {};  // asked before each token; true ends the answer there

  void say(const std::string& text) const {
    if (each && !text.empty()) {
      each(text);
    }
  }
};

// A trained model's answer to a prompt.
struct Answer {
  std::string text;
  Input shown;  // batch of one: the model's last input; its attention explains the answer
};

// What a task may need beyond its own fields.
struct TaskSetup {
  std::filesystem::path config_folder;  // base of relative paths in a config
  uint64_t seed = 123;                  // of generated data; the same for every run of the config
  int64_t batch_size = 0;               // of training, to check that the data suffices; 0: unknown
};

// An error in one field of a task that its declaration cannot express (a text that is too short).
// Reported as an error of the config, at that field.
class TaskError : public ConfigError {
 public:
  TaskError(std::string wrong_field, const std::string& message)
      : ConfigError(message), field(std::move(wrong_field)) {}
  const std::string field;
};

enum class Split { train, validation };

// Throws ShapeError unless every number in `which` is that of one of `available` examples.
void require_examples(const std::vector<int64_t>& which, int64_t available);

class Task {
 public:
  virtual ~Task() = default;

  // ---- Data

  // Model fields that the data determines, by name: {"vocab_size", 65}. Filled in if the config
  // does not give them, checked if it does.
  virtual std::vector<std::pair<std::string, int64_t>> model_sizes() const = 0;
  // The required size of the last axis of the model's output. Default: vocab_size as returned by
  // model_sizes(). 0: any size.
  virtual int64_t output_size() const;

  // The next training batch. All randomness is drawn from `data`.
  virtual Batch next(int64_t batch_size, Generator& data) = 0;
  // The position in the training set between two calls of next(), for checkpoints; may be empty.
  virtual std::vector<int64_t> position() const { return {}; }
  virtual void set_position(const std::vector<int64_t>&) {}

  // The number of fixed examples for evaluating a split (windows of a text, held-out sequences).
  virtual int64_t example_count(Split split) const = 0;
  // The examples with these numbers, each from 0 to example_count(split) - 1, as one batch.
  virtual Batch examples(Split split, const std::vector<int64_t>& which) const = 0;

  // The number of tokens in the training data, and a line that describes the data in the plan:
  // "tinyshakespeare.txt: 1,115,394 characters, 65 different".
  virtual int64_t training_tokens() const = 0;
  virtual std::string description() const = 0;
  // The files that were read; their size and hash are added to the resolved config.
  virtual std::vector<std::filesystem::path> files() const { return {}; }

  // ---- Loss and metrics

  // The loss of the model's output for batch.input. Default: cross entropy of logits (..., V) with
  // the targets.
  virtual BatchLoss loss(const Tensor& output, const Batch& batch) const;
  // Adds a batch to `score`. By default a target is correct if its logit is the largest, and the
  // targets with the same first index are one sequence; a batch without targets adds nothing.
  virtual void score(const Array& output, const Batch& batch, Score& score) const;

  // ---- Text

  // The tokenizer of the model's ids; null for tasks without text.
  virtual const Tokenizer* tokenizer() const { return nullptr; }
  // The tokenizer of its source_ids.
  virtual const Tokenizer* source_tokenizer() const { return nullptr; }
  // Throws ConfigError for a prompt that cannot be answered. This and the following functions
  // require a tokenizer. By default a prompt needs at least one token, and all of them must be
  // known.
  virtual void check_prompt(const std::string& prompt) const;
  // True if the answer continues the prompt, false if it is a separate text.
  virtual bool continues_prompt() const { return true; }
  // By default, samples a continuation of the prompt.
  virtual Answer answer(Module& model, const std::string& prompt,
                        const AnswerOptions& options) const;
};

using TaskRegistry = Registry<Task, TaskSetup>;
TaskRegistry& task_registry();
void register_tasks(TaskRegistry& registry);

#define HEED_TASK(Class, name) \
  static_assert(std::is_base_of_v<heed::Task, Class>, name " must derive from Task")

}  // namespace heed
