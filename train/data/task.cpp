#include "train/data/task.h"

#include <algorithm>

#include "autograd/ops/cross_entropy.h"

namespace heed {

const Shape& input_shape(const Batch& batch) {
  return batch.input.ids ? batch.input.ids.shape() : batch.input.x.shape();
}

void require_examples(const std::vector<int64_t>& which, int64_t available) {
  for (const int64_t example : which) {
    require(example >= 0 && example < available, "examples: expected numbers from 0 to ",
            available - 1, ", got ", example);
  }
}

int64_t Task::output_size() const {
  for (const auto& [field, size] : model_sizes()) {
    if (field == "vocab_size") {
      return size;
    }
  }
  return 0;
}

BatchLoss Task::loss(const Tensor& output, const Batch& batch) const {
  require(static_cast<bool>(batch.targets), "loss: the batch has no targets; a task whose targets ",
          "are no ids overrides loss()");
  const CrossEntropyOptions summed{.ignore_index = ignored_target, .reduction = Reduction::sum};
  return {cross_entropy(output, batch.targets, summed), counted_targets(batch.targets)};
}

void Task::score(const Array& output, const Batch& batch, Score& score) const {
  const Ids& targets = batch.targets;
  if (!targets) {
    return;
  }
  const int64_t width = output.rank() > 0 ? output.dim(-1) : 1;
  require(output.size() == targets.size() * width, "score: expected a row of outputs for each of ",
          "the targets ", targets.shape(), ", got ", output.shape(),
          "; a task with other outputs overrides score()");
  const int64_t sequences = targets.rank() > 0 ? targets.dim(0) : 1;
  const int64_t length = sequences > 0 ? targets.size() / sequences : 0;
  for (int64_t s = 0; s < sequences; ++s) {
    int64_t counted = 0, right = 0;
    for (int64_t i = s * length; i < (s + 1) * length; ++i) {
      if (targets.data()[i] == ignored_target) {
        continue;
      }
      const real* row = output.data() + i * width;
      ++counted;
      right += std::max_element(row, row + width) - row == targets.data()[i] ? 1 : 0;
    }
    if (counted == 0) {
      continue;  // nothing was asked, so nothing is right
    }
    score.targets += counted;
    score.right += right;
    for (Score::Sequences* of : {&score.sequences, &score.by_length[counted]}) {
      of->all += 1;
      of->exact += right == counted ? 1 : 0;
    }
  }
}

void Task::check_prompt(const std::string& prompt) const {
  require<ConfigError>(!tokenizer()->encode(prompt).empty(),
                       "expected at least one character, got none");
}

Answer Task::answer(Module& model, const std::string& prompt, const AnswerOptions& options) const {
  const std::vector<int32_t> before = tokenizer()->encode(prompt);
  TextStream stream(*tokenizer());
  const std::vector<int32_t> after = generate(
      model, before, options.tokens, options.sampling, options.context_length,
      [&](int32_t id) { options.say(stream.push(id)); }, options.stop);
  options.say(stream.finish());
  const size_t shown = std::min(before.size(), static_cast<size_t>(options.context_length));
  const std::span<const int32_t> last(before.end() - static_cast<ptrdiff_t>(shown), before.end());
  return {tokenizer()->decode(after), Ids::from({1, static_cast<int64_t>(shown)}, last)};
}

TaskRegistry& task_registry() {
  static TaskRegistry& registry = TaskRegistry::filled("task", register_tasks);
  return registry;
}

}  // namespace heed
