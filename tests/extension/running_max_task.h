// A task: at each place of a random sequence, the largest symbol so far.
//   ids (B, length) in [0, symbols);  target_t = max(ids_0 ... ids_t)
#pragma once

#include <heed/train/task.h>
#include <heed/train/wings/made/made_task.h>

namespace extension {

using namespace heed;

class RunningMaxTask final : public MadeTask {
 public:
  static constexpr const char* help = "the largest symbol so far";

  struct Config {
    int64_t length = 16;
    int64_t symbols = 8;
    void fields(Fields& f) {
      f.optional("length", length, in_range(8, 1000), "symbols of a sequence");
      f.optional("symbols", symbols, in_range(4, 1000), "how many there are");
    }
  };

  RunningMaxTask(const Config& c, const TaskSetup& setup)
      : config(c), tokenizer_(numbers_below(c.symbols), /*marks=*/0) {
    hold_out_some(setup.seed, most_held_out);  // that many sequences never come up in training
  }

  // Fields of the model that the data decides, where the model has them.
  ModelSizes model_sizes() const override {
    return {{"vocab_size", config.symbols}, {"context_length", config.length}};
  }
  std::string description() const override {
    return text("running_max: the largest of ", config.symbols, " symbols so far");
  }

  // Text. A name for each id:
  const Tokenizer* tokenizer() const override { return &tokenizer_; }

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
    Batch batch{Input(Ids::zeros(shape)), Ids::zeros(shape)};
    for (size_t i = 0; i < questions.size() && !dry_run(); ++i) {  // a dry run has no numbers
      const Question& sequence = questions[i];
      const int64_t row = static_cast<int64_t>(i) * config.length;
      std::copy(sequence.begin(), sequence.end(), batch.input.ids.mutable_data() + row);
      int32_t largest = 0;
      for (int64_t t = 0; t < config.length; ++t) {
        largest = std::max(largest, sequence[static_cast<size_t>(t)]);
        batch.targets.mutable_data()[row + t] = largest;
      }
    }
    return batch;
  }

  // The tokens of a prompt. Throws ConfigError for one that the model cannot be asked, and so does
  // encode(). The model answers with the likeliest token behind them, unless reply() is overridden.
  std::vector<int32_t> question_of(const std::string& prompt) const override {
    std::vector<int32_t> symbols = tokenizer_.encode(prompt);
    const int64_t count = std::ssize(symbols);
    require<ConfigError>(count >= 1 && count <= config.length, "expected 1 to ", config.length,
                         " symbols, got ", count);
    return symbols;
  }

 private:
  const WordTokenizer tokenizer_;
};

}  // namespace extension

HEED_TASK(extension::RunningMaxTask, "running_max");
