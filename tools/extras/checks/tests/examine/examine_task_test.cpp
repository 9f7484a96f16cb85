// Correct tasks pass, with ids or without; incorrect ones get a message.
#include "tools/extras/checks/train/examine_task.h"

#include "layers/module/evaluation_mode.h"
#include "tests/support/echo_task.h"
#include "tools/extras/checks/train/testing.h"
#include "train/extras/toy_tasks/six_words_task.h"

using namespace heed;
using namespace heed::testing;

namespace {

// The examples of another task; `mistake` says what is wrong with them.
class WrongExamples final : public Dataset {
 public:
  explicit WrongExamples(Dataset& right, int mistake = -1) : right_(right), mistake_(mistake) {}
  Batch next(int64_t batch_size, Generator& data) override {
    if (mistake_ == 0) return {};
    Batch batch = right_.next(mistake_ == 1 ? batch_size + 1 : batch_size, data);
    if (mistake_ == 2) batch.targets = Ids::full({batch_size}, ignored_target);
    return batch;
  }
  int64_t example_count(Split split) const override { return right_.example_count(split); }
  Batch examples(Split split, const std::vector<int64_t>& which) const override {
    Batch batch = right_.examples(split, which);
    if (mistake_ == 3) {
      static real others = 0;
      Array x = batch.input.x.value();
      x.mutable_data()[0] = ++others;
    }
    return batch;
  }

 private:
  Dataset& right_;
  const int mistake_;
};

// Tasks that differ from EchoTask in one function each.
template <int mistake>
class WrongTask final : public Task {
 public:
  static constexpr const char* help = "a task with a mistake";
  using Config = NoFields;
  WrongTask(const Config&, const TaskSetup& setup) : right_({}, setup) {
    if (mistake != 5) data_ = std::make_unique<WrongExamples>(right_.data(), mistake);
  }

  ModelSizes model_sizes() const override {
    if (mistake == 4) return {{"vocab_size", 9}, {"num_classes", 3}};
    return {};
  }
  int64_t output_size() const override { return mistake == 4 ? 9 : Task::output_size(); }
  std::string description() const override { return ""; }

 private:
  EchoTask right_;
};

// "Your journey starts with one step" with a mistake in its text side.
enum class Mute { nothing, tokenizer, names, prompt, mode, silence, hiding };

template <Mute mistake>
class MuteTask final : public Task {
 public:
  static constexpr const char* help = "a task whose text has a mistake";
  using Config = NoFields;
  MuteTask(const Config&, const TaskSetup& setup)
      : right_({}, setup), words_({"a", "b"}, /*marks=*/0) {
    data_ = std::make_unique<WrongExamples>(right_.data());
  }

  ModelSizes model_sizes() const override { return right_.model_sizes(); }
  std::string description() const override { return ""; }

  const Tokenizer* tokenizer() const override {
    return mistake == Mute::tokenizer ? &words_ : right_.tokenizer();
  }
  std::string target_name(int32_t target) const override {
    return mistake == Mute::names ? std::string("ab").substr(static_cast<size_t>(target))
                                  : right_.target_name(target);
  }
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override {
    const Input shown(Ids::zeros({1, 2}));
    if (mistake == Mute::mode) model(shown);
    if (mistake == Mute::silence) return {"word", shown};
    if (mistake == Mute::hiding) return {};
    return right_.answer(model, prompt, options);
  }

 protected:
  std::vector<int32_t> question_of(const std::string& prompt) const override {
    if (mistake == Mute::prompt) static_cast<void>(prompt.at(0));
    right_.check_prompt(prompt);
    return right_.tokenizer()->encode(prompt);
  }

 private:
  SixWordsTask right_;
  const WordTokenizer words_;
};

template <class Wrong>
std::string mistakes_of(const std::string& name) {
  task_registry().add<Wrong>(name);
  std::string all;
  for (const Finding& finding : examine_task("{type: " + name + "}")) {
    if (!finding.message.empty()) all += finding.what + ": " + finding.message + "\n";
  }
  return all;
}

template <int mistake>
std::string mistakes_of() {
  return mistakes_of<WrongTask<mistake>>(text("wrong_task_", mistake));
}

template <Mute mistake>
std::string mistakes_of() {
  return mistakes_of<MuteTask<mistake>>(text("mute_task_", static_cast<int>(mistake)));
}

}  // namespace

TEST_CASE("examine task: built-in tasks pass, and one whose batches have no ids") {
  register_echo_task();
  check_task("{type: echo}");
  check_task("{type: sort, length: 8}");
  check_task("{type: copy, length: 6, min_length: 2}");
  check_task("{type: negation}");
  CHECK(examine_task("{type: echo}").size() == 8);
}

TEST_CASE("examine task: a size of the model's output that is not its number of classes") {
  CHECK(mistakes_of<4>() ==
        "sizes: output_size() is 9, but model_sizes() says num_classes 3; leave output_size() out, "
        "it is num_classes by default\n");
}

TEST_CASE("examine task: the text side") {
  CHECK(mistakes_of<Mute::nothing>() == "");
  CHECK(mistakes_of<Mute::tokenizer>().starts_with(
      "sizes: the tokenizer has 2 tokens, but model_sizes() says vocab_size 7; give its "
      "vocab_size() there\n"));
  const std::string names = mistakes_of<Mute::names>();
  CHECK_MESSAGE(names.starts_with("text: target_name(3) ends with an error ("), names);
  CHECK_MESSAGE(names.ends_with("), but there are 7 outputs\n"), names);
  CHECK(mistakes_of<Mute::prompt>().starts_with(
      "text: check_prompt(\"\") ends with an error that is no ConfigError: "));
  CHECK(mistakes_of<Mute::mode>().starts_with("text: answer() runs the model as in training"));
  CHECK(mistakes_of<Mute::silence>().starts_with(
      "text: answer() returns \"word\", but what it gives to options.say(), which "
      "`heed generate` prints, is \"\"\n"));
  CHECK(mistakes_of<Mute::hiding>().starts_with("text: answer() leaves Answer::shown empty; "));
}

TEST_CASE("examine task: a task without examples") {
  const std::string said = mistakes_of<5>();
  CHECK_MESSAGE(said.starts_with("config: "), said);
  CHECK_MESSAGE(
      said.ends_with("data: the task has no examples; its constructor has to set data_\n"), said);
}

TEST_CASE("examine task: batches without an input, or of another size") {
  CHECK(mistakes_of<0>().find("batches: expected ids (B, T) or x (B, ...) of 4 sequences, got "
                              "neither\n") != std::string::npos);
  CHECK(mistakes_of<1>().find("batches: expected x (B, ...) of 4 sequences, got (5, 4)\n") !=
        std::string::npos);
  CHECK(mistakes_of<2>().find("batches: every target is ignored: there is nothing to learn\n") !=
        std::string::npos);
}

TEST_CASE("examine task: other examples each time") {
  CHECK(mistakes_of<3>().find("examples: examples() of a second task from the same config are "
                              "others") != std::string::npos);
}
