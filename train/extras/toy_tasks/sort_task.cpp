#include "train/extras/toy_tasks/sort_task.h"

#include <algorithm>

#include "autograd/base/modes.h"
#include "train/data/generate.h"

namespace heed {

SortTask::SortTask(const Config& c, const TaskSetup& setup)
    : sequences_(c),
      tokenizer_(with_marks(numbers_below(c.symbols),
                            std::vector<std::string>(c.lengths_differ() ? 1 : 0, "<end>"))) {
  data_ = std::make_unique<MadeExamples>(*this, setup.seed, c.held_out());
}

Batch SortTask::batch(std::span<const Question> questions) const {
  const Shape shape{static_cast<int64_t>(questions.size()), tokens()};
  const auto end = static_cast<int32_t>(sequences_.symbols);
  Ids x = Ids::full(shape, sequences_.lengths_differ() ? end : 0);
  Ids y = Ids::full(shape, ignored_target);
  Mask mask = sequences_.lengths_differ() ? Mask::zeros(shape) : Mask();
  for (size_t i = 0; i < questions.size() && !dry_run(); ++i) {
    const Question& sequence = questions[i];
    const int64_t row = static_cast<int64_t>(i) * tokens();
    std::copy(sequence.begin(), sequence.end(), x.mutable_data() + row);
    std::copy(sequence.begin(), sequence.end(), y.mutable_data() + row);
    std::sort(y.mutable_data() + row, y.mutable_data() + row + sequence.size());
    if (mask) {
      std::fill_n(mask.mutable_data() + row, sequence.size() + 1, uint8_t{1});
    }
  }
  return {Input(std::move(x), std::move(mask)), std::move(y)};
}

std::vector<int32_t> SortTask::question_of(const std::string& prompt) const {
  std::vector<int32_t> symbols = tokenizer_.encode(prompt);
  sequences_.check_length(symbols.size());
  return symbols;
}

Answer SortTask::reply(Module& model, const std::vector<int32_t>& symbols,
                       const AnswerOptions&) const {
  std::vector<int32_t> shown = symbols;  // as batch() has it, without the padding
  if (sequences_.lengths_differ()) shown.push_back(static_cast<int32_t>(sequences_.symbols));
  Answer answer{.text = {}, .shown = Ids::from({1, std::ssize(shown)}, shown)};
  const Array logits = model(answer.shown).value();  // (1, T, V)
  const auto width = static_cast<size_t>(logits.dim(-1));
  std::vector<int32_t> sorted;
  for (size_t t = 0; t < symbols.size(); ++t) {
    sorted.push_back(likeliest(logits.span().subspan(t * width, width)));
  }
  answer.text = tokenizer_.decode(sorted);
  return answer;
}

std::string SortTask::description() const {
  return made_as_needed("sort: " + sequences_.description(), data());
}

}  // namespace heed
