// my_task: after each symbol of a random sequence, predict the symbol `distance` positions before
// it.
//   ids (B, length) in [0, symbols);  target_t = ids_{t - distance}, ignored for t < distance
// Attention learns to look back; without attention a model can only guess.
#pragma once

#include <heed/train/extras/toy_tasks/made_examples.h>
#include <heed/train/task.h>

namespace mine {

using namespace heed;

// A task has examples: here MadeExamples, which come from the seed, without a file. The class says
// what a question is, and a model's input and targets for it. Batches, a held-out set and resuming
// follow from these.
class MyTask final : public Task {
 public:
  // The line that `heed layers` shows.
  static constexpr const char* help = "the symbol that stood some places before";

  // The fields of the `data:` section.
  struct Config {
    int64_t length = 12;
    int64_t symbols = 8;
    int64_t distance = 2;
    void fields(Fields& f) {
      f.optional("length", length, in_range(8, 1000), "symbols of a sequence");
      f.optional("symbols", symbols, in_range(4, 1000), "how many there are");
      f.optional("distance", distance, at_least(1), "how far to look back");
    }
    void check(ConfigErrors& errors, const ConfigNode& at) const {
      if (distance >= length) {
        errors.add_field(at, "distance", "must be below length ", length, ", got ", distance);
      }
    }
  };

  // The symbols are called 0, 1, ... in text. WordTokenizer takes any other words as well.
  MyTask(const Config& c, const TaskSetup& setup)
      : config(c), tokenizer_(numbers_below(c.symbols), /*marks=*/0) {
    data_ = std::make_unique<MadeExamples>(*this, setup.seed, most_held_out);
  }

  // Sizes of the model that the data determines.
  ModelSizes model_sizes() const override {
    return {{"vocab_size", config.symbols}, {"context_length", config.length}};
  }
  // The description of the data in the plan.
  std::string description() const override {
    return text("my_task: ", config.length, " of ", config.symbols, " symbols, the one ",
                config.distance, " places before");
  }

  // Any question at random, held out or not.
  Question draw(Generator& generator) const {
    return draw_symbols(generator, config.length, config.symbols);
  }

  // What a model is given for questions, and should answer.
  Batch batch(std::span<const Question> questions) const {
    return batch_of_rows(
        questions, config.length,
        [this](const Question& symbols, std::span<int32_t> ids, std::span<int32_t> targets) {
          std::copy(symbols.begin(), symbols.end(), ids.begin());
          std::copy(symbols.begin(), symbols.end() - config.distance,
                    targets.begin() + config.distance);
        });
  }

  // Text: what a user asks a trained model and reads as its answer (heed generate, samples, maps).
  // A task without text leaves the tokenizer and question_of() out.
  const Tokenizer* tokenizer() const override { return &tokenizer_; }
  bool continues_prompt() const override { return false; }

  const Config config;

 protected:
  // The tokens of a prompt. Throws ConfigError for one that the model cannot be asked, and encode()
  // for an unknown word. The answer is the likeliest token at the last place: here the symbol
  // `distance` places before it. Override reply() for any other answer.
  std::vector<int32_t> question_of(const std::string& prompt) const override {
    std::vector<int32_t> symbols = tokenizer_.encode(prompt);
    const int64_t count = std::ssize(symbols);
    require<ConfigError>(count > config.distance && count <= config.length, "expected ",
                         config.distance + 1, " to ", config.length, " symbols, got ", count);
    return symbols;
  }

 private:
  const WordTokenizer tokenizer_;
};

}  // namespace mine

// The build finds this line. "my_task" is the type name in configs.
HEED_TASK(mine::MyTask, "my_task");
