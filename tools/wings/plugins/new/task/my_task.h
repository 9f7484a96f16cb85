// my_task: after each symbol of a random sequence, predict the symbol `distance` positions before
// it.
//   ids (B, length) in [0, symbols);  target_t = ids_{t - distance}, ignored for t < distance
// Attention learns to look back; without attention a model can only guess.
#pragma once

#include <heed/train/task.h>
#include <heed/train/wings/made/made_task.h>

namespace mine {

using namespace heed;

// MadeTask is the base of tasks that generate their examples. The class defines what a question is,
// and a model's input and targets for it. Batches, a held-out set and resuming follow from these.
class MyTask final : public MadeTask {
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
    hold_out_some(setup.seed, most_held_out);  // drawn with the seed of the config
  }

  // Sizes of the model that the data determines.
  std::vector<std::pair<std::string, int64_t>> model_sizes() const override {
    return {{"vocab_size", config.symbols}, {"context_length", config.length}};
  }
  // The description of the data in the plan.
  std::string description() const override {
    return text("my_task: ", config.length, " of ", config.symbols, " symbols, the one ",
                config.distance, " places before");
  }

  // Text: what a user asks a trained model and reads as its answer (heed generate, samples, maps).
  // A task without text leaves these three functions and the tokenizer out.
  const Tokenizer* tokenizer() const override { return &tokenizer_; }

  // Throws ConfigError for a prompt that the model cannot be asked. encode() does so for an unknown
  // word.
  void check_prompt(const std::string& prompt) const override {
    const auto count = static_cast<int64_t>(tokenizer_.encode(prompt).size());
    require<ConfigError>(count > config.distance && count <= config.length, "expected ",
                         config.distance + 1, " to ", config.length, " symbols, got ", count);
  }

  // The symbol `distance` places before the last one of the prompt, as the model has it.
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override {
    check_prompt(prompt);
    const EvaluationMode evaluating(model);  // no dropout, no graph
    const std::vector<int32_t> ids = tokenizer_.encode(prompt);
    Answer answer{.text = {}, .shown = Ids::from({1, static_cast<int64_t>(ids.size())}, ids)};
    const Array logits = model(answer.shown).value();  // (1, T, symbols)
    const auto last = logits.span().last(static_cast<size_t>(config.symbols));
    answer.text = tokenizer_.name(likeliest(last));
    options.say(answer.text);  // heed generate prints what is said here
    return answer;
  }

  const Config config;

 protected:
  Question draw(Generator& generator) const override {
    Question sequence(static_cast<size_t>(config.length));
    for (int32_t& symbol : sequence) {
      symbol = draw_below(generator, static_cast<size_t>(config.symbols));
    }
    return sequence;
  }

  Batch batch(std::span<const Question> questions) const override {
    const Shape shape{static_cast<int64_t>(questions.size()), config.length};
    Batch batch{Input(Ids::zeros(shape)), Ids::full(shape, ignored_target)};
    for (size_t i = 0; i < questions.size() && !dry_run(); ++i) {  // a dry run has no data
      const Question& sequence = questions[i];
      const int64_t row = static_cast<int64_t>(i) * config.length;
      std::copy(sequence.begin(), sequence.end(), batch.input.ids.mutable_data() + row);
      std::copy(sequence.begin(), sequence.end() - config.distance,
                batch.targets.mutable_data() + row + config.distance);
    }
    return batch;
  }

 private:
  const WordTokenizer tokenizer_;
};

}  // namespace mine

// The build finds this line. "my_task" is the type name in configs.
HEED_TASK(mine::MyTask, "my_task");
