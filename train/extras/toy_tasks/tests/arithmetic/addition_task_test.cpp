#include "train/extras/toy_tasks/addition_task.h"

#include "train/extras/toy_tasks/tests/made/made_task_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::unique_ptr<Task> adding(int64_t digits, bool reverse = true) {
  return made_task("addition", ConfigNode::map({{"digits", digits}, {"reverse", reverse}}));
}

// The number that these digits are, the first one counting most.
int64_t number_of(std::vector<int32_t> digits, bool reverse = false) {
  if (reverse) std::reverse(digits.begin(), digits.end());
  int64_t number = 0;
  for (const int32_t digit : digits) number = 10 * number + digit;
  return number;
}

// Answers with the digits that it was told, whatever it is asked.
class Told final : public Module {
 public:
  explicit Told(std::vector<int32_t> digits) : digits_(std::move(digits)) {}

 protected:
  Tensor forward(const Input& in) override {
    Array logits = Array::zeros({1, in.ids.dim(1), 12});
    logits.mutable_data()[(in.ids.dim(1) - 1) * 12 + digits_.at(next_++)] = 1;
    return Tensor(std::move(logits));
  }

 private:
  const std::vector<int32_t> digits_;
  size_t next_ = 0;
};

}  // namespace

TEST_CASE("addition: both numbers, and behind the equals sign the digits of their sum") {
  for (const bool reverse : {true, false}) {
    for (const int64_t n : {1, 2, 3, 9}) {
      const auto task = adding(n, reverse);
      CHECK(task->model_sizes() == std::vector<std::pair<std::string, int64_t>>{
                                       {"vocab_size", 12}, {"context_length", 3 * n + 2}});
      Generator data(3);
      const Batch batch = task->data().next(100, data);
      REQUIRE(batch.input.ids.shape() == Shape{100, 3 * n + 2});
      for (int64_t b = 0; b < 100; ++b) {
        const auto ids = row_of(batch.input.ids, b), targets = row_of(batch.targets, b);
        REQUIRE(ids[static_cast<size_t>(n)] == 10);
        REQUIRE(ids[static_cast<size_t>(2 * n + 1)] == 11);
        const std::vector<int32_t> sum(targets.begin() + 2 * n + 1, targets.end());
        REQUIRE(std::ssize(sum) == n + 1);
        REQUIRE(number_of({ids.begin(), ids.begin() + n}) +
                    number_of({ids.begin() + n + 1, ids.begin() + 2 * n + 1}) ==
                number_of(sum, reverse));
        // Each digit of the sum is given when the next one is asked for.
        REQUIRE(std::equal(sum.begin(), sum.end() - 1, ids.begin() + 2 * n + 2));
        REQUIRE(std::count(targets.begin(), targets.end(), ignored_target) == 2 * n + 1);
      }
    }
  }
}

TEST_CASE("addition: what is held out never comes up in training") {
  CHECK(check_held_out(*adding(1), 10) > 150 * 64);
  CHECK(check_held_out(*adding(3), 2000) > 150 * 64);
  check_streams("addition");
}

TEST_CASE("addition: prompts, and answers as one writes them") {
  const auto task = adding(3);
  for (const char* prompt : {"128 + 85", "128+85", " 128 + 085 = ", "128 + 85="}) {
    CHECK(prompt_error(*task, prompt) == "no error");
    Told reversed({3, 1, 2, 0});
    const Answer answer = task->answer(reversed, prompt, {});
    CHECK(answer.text == "213");
    CHECK(row_of(answer.shown.ids, 0) == std::vector<int32_t>{1, 2, 8, 10, 0, 8, 5, 11, 3, 1, 2});
  }
  Told forwards({0, 2, 1, 3}), nothing({0, 0, 0, 0});
  CHECK(adding(3, false)->answer(forwards, "128 + 85", {}).text == "213");
  CHECK(task->answer(nothing, "0 + 0", {}).text == "0");
  for (const char* prompt : {"", "128", "128 +", "+ 85", "1280 + 5", "1.5 + 2", "-1 + 2", "a + b",
                             "1 + 2 + 3", "1 = 2"}) {
    CHECK(prompt_error(*task, prompt)
              .starts_with("expected two numbers of at most 3 digits, \"12 + 85\", got "));
  }
  CHECK(prompt_error(*adding(1), "12 + 5") ==
        "expected two numbers of at most 1 digit, \"2 + 5\", got 12 + 5");
}
