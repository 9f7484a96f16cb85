#include "train/extras/toy_tasks/addition_task.h"

#include <algorithm>
#include <cmath>

#include "autograd/random/fills.h"
#include "layers/text/display.h"
#include "train/data/generate.h"

namespace heed {

namespace {

constexpr int32_t plus = 10, equals = 11;  // ids; those of the digits are the digits

int64_t power_of_ten(int64_t exponent) {
  return static_cast<int64_t>(std::pow(10.0, static_cast<double>(exponent)));
}

}  // namespace

void AdditionTask::Config::fields(Fields& f) {
  f.optional("digits", digits, in_range(1, 9), "digits of each number, the first ones may be 0");
  f.optional("reverse", reverse, "the sum begins with its last digit");
}

AdditionTask::AdditionTask(const Config& c, const TaskSetup& setup)
    : digits_(c.digits), reverse_(c.reverse), tokenizer_([] {
        std::vector<std::string> words = numbers_below(10);
        words.emplace_back("+");
        return with_marks(std::move(words), {"="});
      }()) {
  data_ = std::make_unique<MadeExamples>(*this, setup.seed,
                                         tenth_of(std::pow(100.0, static_cast<double>(digits_))));
}

Question AdditionTask::draw(Generator& generator) const {
  std::vector<int64_t> drawn(2);
  fill_randint(generator, drawn, 0, power_of_ten(digits_));
  return {drawn.begin(), drawn.end()};
}

void AdditionTask::write(int64_t number, int64_t count, bool in_reverse, int32_t* ids) {
  for (int64_t i = 0; i < count; ++i, number /= 10) {
    ids[in_reverse ? i : count - 1 - i] = static_cast<int32_t>(number % 10);
  }
}

Batch AdditionTask::batch(std::span<const Question> questions) const {
  const int64_t n = digits_;
  return batch_of_rows(
      questions, 3 * n + 2,
      [&](const Question& terms, std::span<int32_t> ids, std::span<int32_t> targets) {
        int32_t* const sum = targets.data() + 2 * n + 1;
        write(terms[0], n, false, ids.data());
        ids[static_cast<size_t>(n)] = plus;
        write(terms[1], n, false, ids.data() + n + 1);
        ids[static_cast<size_t>(2 * n + 1)] = equals;
        write(int64_t{terms[0]} + terms[1], n + 1, reverse_, sum);
        std::copy_n(sum, n, ids.data() + 2 * n + 2);  // behind "="
      });
}

std::vector<int32_t> AdditionTask::question_of(const std::string& prompt) const {
  std::string sum = prompt;
  std::erase_if(sum, [](char c) { return c == ' '; });
  if (sum.ends_with('=')) sum.pop_back();
  const size_t sign = std::min(sum.find('+'), sum.size());
  const std::array<std::string, 2> terms{sum.substr(0, sign),
                                         sum.substr(std::min(sign + 1, sum.size()))};
  std::vector<int32_t> numbers;
  for (const std::string& term : terms) {
    const bool is_number = !term.empty() && std::ssize(term) <= digits_ &&
                           term.find_first_not_of("0123456789") == std::string::npos;
    require<ConfigError>(is_number, "expected two numbers of at most ", digits_, " digit",
                         digits_ == 1 ? "" : "s", ", \"", digits_ == 1 ? "2 + 5" : "12 + 85",
                         "\", got ", printable(prompt));
    numbers.push_back(std::stoi(term));
  }
  return numbers;
}

Answer AdditionTask::reply(Module& model, const std::vector<int32_t>& numbers,
                           const AnswerOptions&) const {
  const Batch given = batch({&numbers, 1});
  const int64_t asked = 2 * digits_ + 2;  // tokens up to "="
  std::vector<int32_t> ids(given.input.ids.data(), given.input.ids.data() + asked), sum;
  Answer answer;
  for (int64_t i = 0; i <= digits_; ++i) {
    answer.shown = Input(Ids::from({1, static_cast<int64_t>(ids.size())}, ids));
    sum.push_back(likeliest(model(answer.shown).value()));
    ids.push_back(sum.back());
  }
  if (reverse_) std::reverse(sum.begin(), sum.end());
  for (const int32_t id : sum) {
    answer.text += tokenizer_.name(id);
  }
  answer.text.erase(0, std::min(answer.text.find_first_not_of('0'), answer.text.size() - 1));
  return answer;
}

std::string AdditionTask::description() const {
  return made_as_needed(
      text("addition: sums of numbers of ", digits_, " digit", digits_ == 1 ? "" : "s", ", ",
           reverse_ ? "last" : "first", " digit first"),
      data());
}

}  // namespace heed
