// What a model is trained on: batches for training, a fixed set for validation.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "autograd/random/fills.h"
#include "autograd/random/generator.h"
#include "layers/module/registry.h"

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

struct AnswerOptions;  // train/data/generate.h

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

// Text in, tokens out, and back.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual int64_t vocab_size() const = 0;
  // Throws ConfigError that names a character the tokenizer does not know.
  virtual std::vector<int32_t> encode(const std::string& text) const = 0;
  virtual std::string decode(std::span<const int32_t> ids) const = 0;
  // One token for people: visible where it is a blank or a newline.
  virtual std::string name(int32_t id) const = 0;
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
