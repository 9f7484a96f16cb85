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

// A target that no loss is counted for.
inline constexpr int32_t ignored_target = -100;

// B sequences: what the model is given and what it should say.
struct Batch {
  Input input;  // ids (B, T); a mask where sequences are padded; source_ids for an encoder_decoder
  Ids targets;  // one for each row of the model's output, or ignored_target: (B, T), or (B) classes
};

// Sum of the losses of a batch and how many targets were counted (all but ignored_target).
struct BatchLoss {
  Tensor sum;
  int64_t counted = 0;
};

// What was right, counted over the examples of an evaluation.
struct Score {
  struct Sequences {
    int64_t all = 0;
    int64_t exact = 0;  // with every target right
  };
  int64_t targets = 0;
  int64_t right = 0;
  Sequences sequences;
  std::map<int64_t, Sequences> by_length;  // by the number of targets of a sequence
};

// How good a model is on a set of examples, from the Score of all of them (train/evaluate.h).
struct Evaluation {
  double loss = 0;     // mean over the counted targets
  int64_t tokens = 0;  // how many there were
  // As the task counts it. A model that writes token after token is given the right ones before
  // each: a sequence is wholly right then if and only if greedy decoding writes it.
  double accuracy = 0;                            // share of targets that are right
  double exact_match = 0;                         // share of sequences with every target right
  std::map<int64_t, Score::Sequences> by_length;  // by the number of targets
};

// How a task is to answer a prompt (Task::answer). Tasks with one right answer take the likeliest
// tokens and leave `tokens` and `sampling` aside.
struct AnswerOptions {
  int64_t tokens = 200;
  SamplingOptions sampling = {};
  int64_t context_length = 0;                         // of the model
  std::function<void(const std::string&)> each = {};  // is told of the text as it comes

  void say(const std::string& text) const {
    if (each && !text.empty()) {
      each(text);
    }
  }
};

// What a trained model says to a prompt.
struct Answer {
  std::string text;
  Input shown;  // a batch of one: what the model saw; its attention to this explains the answer
};

// What a task may want to know beyond its own fields.
struct TaskSetup {
  std::filesystem::path config_folder;  // relative paths in a config start here
  uint64_t seed = 123;                  // of generated data, the same for every run of the config
  int64_t batch_size = 0;               // of training, to check that there is enough; 0: not known
};

// What is wrong with one field of a task beyond what its declaration can say (a text that is too
// short): a mistake of the config, reported at that field.
class TaskError : public ConfigError {
 public:
  TaskError(std::string wrong_field, const std::string& message)
      : ConfigError(message), field(std::move(wrong_field)) {}
  const std::string field;
};

enum class Split { train, validation };

class Task {
 public:
  virtual ~Task() = default;

  // ---- Data

  // Fields of the model that the data decides, by name: {"vocab_size", 65}. Filled in where the
  // config does not give them, checked where it does.
  virtual std::vector<std::pair<std::string, int64_t>> model_sizes() const = 0;
  // How many numbers the model gives for a target: the last axis of its output. vocab_size of the
  // above; 0: any number.
  virtual int64_t output_size() const;

  // The next batch of the training set; everything random about it is drawn from `data`.
  virtual Batch next(int64_t batch_size, Generator& data) = 0;
  // Where the training set stands between two calls of next(), for checkpoints; may be empty.
  virtual std::vector<int64_t> position() const { return {}; }
  virtual void set_position(const std::vector<int64_t>&) {}

  // The fixed examples that a split is judged by (windows of a text, held-out sequences).
  virtual int64_t example_count(Split split) const = 0;
  // Examples first, first + stride, first + 2 stride, ... `count` of them, as one batch.
  virtual Batch examples(Split split, int64_t first, int64_t stride, int64_t count) const = 0;

  // Tokens of all training data, and a line for the plan: "tinyshakespeare.txt: 1,115,394
  // characters, 65 different".
  virtual int64_t training_tokens() const = 0;
  virtual std::string description() const = 0;
  // Files that were read, to put their size and hash into the resolved config.
  virtual std::vector<std::filesystem::path> files() const { return {}; }

  // ---- Loss and metrics

  // Of what the model made of batch.input. Unless said otherwise the cross entropy of logits
  // (..., V) with the targets.
  virtual BatchLoss loss(const Tensor& output, const Batch& batch) const;
  // Adds a batch. Unless said otherwise a target is right when its logit is the largest, and what
  // shares the first index of the targets is a sequence.
  virtual void score(const Array& output, const Batch& batch, Score& score) const;

  // ---- Text

  // Of the model's ids; null for tasks that have no text.
  virtual const Tokenizer* tokenizer() const { return nullptr; }
  // Of its source_ids.
  virtual const Tokenizer* source_tokenizer() const { return nullptr; }
  // Throws ConfigError for a prompt that cannot be answered. Only where there is a tokenizer, as
  // the following. Unless said otherwise: at least one token, all of them known.
  virtual void check_prompt(const std::string& prompt) const;
  // Whether the answer goes on from the prompt; else it is a text of its own.
  virtual bool continues_prompt() const { return true; }
  // Unless said otherwise what the model, sampled, writes after the prompt.
  virtual Answer answer(Module& model, const std::string& prompt,
                        const AnswerOptions& options) const;
};

using TaskRegistry = Registry<Task, TaskSetup>;
TaskRegistry& task_registry();
void register_tasks(TaskRegistry& registry);

#define HEED_TASK(Class, name) \
  static_assert(std::is_base_of_v<heed::Task, Class>, name " must derive from Task")

}  // namespace heed
