#include "train/wings/circuits/symbol_task.h"

#include <numeric>

#include "layers/module/evaluation_mode.h"

namespace heed {

void SymbolText::check_prompt(const std::string& prompt) const {
  const auto count = static_cast<int64_t>(tokenizer_.encode(prompt).size());
  require<ConfigError>(count >= 1 && count <= length_, "expected 1 to ", length_,
                       " symbols with blanks between them, got ", count);
}

Answer SymbolText::answer(Module& model, const std::string& prompt,
                          const AnswerOptions& options) const {
  check_prompt(prompt);
  const EvaluationMode evaluating(model);
  const std::vector<int32_t> ids = tokenizer_.encode(prompt);
  Answer answer{.text = {}, .shown = Ids::from({1, static_cast<int64_t>(ids.size())}, ids)};
  answer.text = tokenizer_.name(likeliest(model(answer.shown).value()));
  options.say(answer.text);
  return answer;
}

Batch SymbolText::blank(int64_t count) const {
  const Shape shape{count, length_};
  return {Input(Ids::zeros(shape)), Ids::full(shape, ignored_target)};
}

std::span<int32_t> SymbolText::row(Ids& of, size_t i) const {
  const auto width = static_cast<size_t>(length_);
  return {of.mutable_data() + i * width, width};
}

double arrangements(int64_t n, int64_t k) {
  double ways = 1;
  for (int64_t i = 0; i < k; ++i) {
    ways *= static_cast<double>(n - i);
  }
  return ways;
}

std::vector<int32_t> draw_distinct(Generator& generator, int64_t n, int64_t count) {
  std::vector<int32_t> numbers(static_cast<size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const auto other = static_cast<size_t>(draw_below(generator, numbers.size() - i));
    std::swap(numbers[i], numbers[i + other]);
  }
  numbers.resize(static_cast<size_t>(count));
  return numbers;
}

}  // namespace heed
