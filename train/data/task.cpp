#include "train/data/task.h"

#include <algorithm>
#include <span>

#include "autograd/base/rethrow.h"
#include "autograd/graph/graph.h"
#include "autograd/ops/cross_entropy.h"
#include "autograd/ops/log_softmax.h"
#include "autograd/ops/mse.h"
#include "layers/module/evaluation_mode.h"
#include "train/data/text_stream.h"
#include "train/tokenizers/vocabulary.h"

namespace heed {

std::vector<Answer> continued(Module& model, const Tokenizer& tokenizer, const std::string& prompt,
                              std::span<const AnswerOptions> options) {
  const std::vector<int32_t> before = tokenizer.encode(prompt);
  const int32_t last_read = before.empty() ? -1 : before.back();
  std::vector<TextStream> streams(options.size(), TextStream(tokenizer));
  std::vector<SamplingOptions> sampling;
  for (TextStream& stream : streams) stream.push(prompt, last_read);
  for (const AnswerOptions& of : options) sampling.push_back(of.sampling);
  std::vector<std::vector<int32_t>> all = generate(
      model, before, options[0].tokens, sampling, options[0].context_length,
      [&](size_t k, int32_t id) {
        options[k].say(sampling[k].is_end(id) ? "" : streams[k].push(id));
      },
      [&](size_t k) { return options[k].stop && options[k].stop(); });
  const size_t shown = std::min(before.size(), static_cast<size_t>(options[0].context_length));
  const std::span<const int32_t> last(before.end() - static_cast<ptrdiff_t>(shown), before.end());
  std::vector<Answer> answers;
  for (size_t k = 0; k < all.size(); ++k) {
    std::erase_if(all[k], [&](int32_t id) { return sampling[k].is_end(id); });
    options[k].say(streams[k].finish());
    answers.push_back({decode_after(tokenizer, last_read, all[k]),
                       Ids::from({1, static_cast<int64_t>(shown)}, last)});
  }
  return answers;
}

Dataset& Task::present(const std::unique_ptr<Dataset>& data) {
  require<ConfigError>(data != nullptr,
                       "data: the task has no examples; its constructor has to set data_");
  return *data;
}

int64_t Task::model_size(const std::string& name) const {
  for (const auto& [field, size] : model_sizes()) {
    if (field == name) {
      return size;
    }
  }
  return 0;
}

int64_t Task::output_size() const {
  const int64_t classes = model_size("num_classes");
  return classes > 0 ? classes : model_size("vocab_size");
}

BatchLoss Task::loss(const Tensor& output, const Batch& batch) const {
  if (const Array& wanted = batch.target_values) {
    require(output.shape() == wanted.shape(), "loss: expected an output of the shape of the ",
            "targets, ", wanted.shape(), ", got ", output.shape());
    // mse() is the mean over all numbers; the sum is wanted here.
    return {mse(output, wanted) * static_cast<real>(wanted.size()), wanted.size()};
  }
  require(static_cast<bool>(batch.targets), "loss: the batch has no targets; a task that needs ",
          "none overrides loss()");
  const CrossEntropyOptions summed{.ignore_index = ignored_target, .reduction = Reduction::sum};
  return {cross_entropy(output, batch.targets, summed), counted_targets(batch.targets)};
}

BatchLoss Task::training_loss(Module& model, const Batch& batch) const {
  Input in = batch.input;
  in.targets = loss_targets(batch);
  const Tensor output = model(in);
  return in.targets && output.rank() == 0 ? BatchLoss{output, counted_targets(in.targets)}
                                          : loss(output, batch);
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
  const auto classes = static_cast<size_t>(class_names_.empty() ? 0 : width);
  if (classes > 0) score.confusion.resize(classes, std::vector<int64_t>(classes, 0));
  const NoGrad no_graph;
  // Of examples that are scored one by one: the mean of -log p over the targets of each.
  const Array log_p = batch.numbers.empty() ? Array() : log_softmax(Tensor(output)).value();
  for (int64_t s = 0; s < sequences; ++s) {
    int64_t counted = 0, right = 0;
    double loss = 0;
    for (int64_t i = s * length; i < (s + 1) * length; ++i) {
      const int32_t target = targets.data()[i];
      if (target == ignored_target) {
        continue;
      }
      const real* row = output.data() + i * width;
      const auto answer = std::max_element(row, row + width) - row;
      ++counted;
      right += answer == target ? 1 : 0;
      if (classes > 0) {
        ++score.confusion[static_cast<size_t>(target)][static_cast<size_t>(answer)];
      }
      if (log_p) loss -= static_cast<double>(log_p.data()[i * width + target]);
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
    if (log_p) {
      score.hardest.push_back(
          {batch.numbers[static_cast<size_t>(s)], loss / static_cast<double>(counted)});
    }
  }
  score.keep_hardest();
}

// ---- text

std::string token_name(const Tokenizer* tokenizer, int32_t id) {
  return tokenizer != nullptr ? tokenizer->name(id) : std::to_string(id);
}

std::string Task::classes() const {
  return class_names_.empty() ? "" : vocabulary_to_json("classes", class_names_);
}

std::string Task::target_name(int32_t target) const {
  return class_names_.empty() ? token_name(tokenizer(), target)
                              : class_names_.at(static_cast<size_t>(target));
}

std::string Task::mistake_in_prompt(const std::string& prompt) const {
  return error_of<ConfigError>([&] { check_prompt(prompt); }).value_or("");
}

std::vector<int32_t> Task::question_of(const std::string& prompt) const {
  std::vector<int32_t> tokens = tokenizer()->encode(prompt);
  require<ConfigError>(!tokens.empty(), "expected at least one token, got none");
  return tokens;
}

Answer Task::reply(Module& model, const std::vector<int32_t>& asked, const AnswerOptions&) const {
  Answer answer{.text = {}, .shown = Ids::from({1, std::ssize(asked)}, asked)};
  answer.text = tokenizer()->name(likeliest(model(answer.shown).value()));
  return answer;
}

Answer Task::answer(Module& model, const std::string& prompt, const AnswerOptions& options) const {
  if (continues_prompt()) {
    return continued(model, *tokenizer(), prompt, {&options, 1})[0];
  }
  const std::vector<int32_t> asked = question_of(prompt);
  const EvaluationMode evaluating(model);
  Answer answer = reply(model, asked, options);
  options.say(answer.text);
  return answer;
}

std::vector<Answer> Task::answers(Module& model, const std::string& prompt,
                                  std::span<const AnswerOptions> options) const {
  std::vector<Answer> all;
  for (const AnswerOptions& each : options) all.push_back(answer(model, prompt, each));
  return all;
}

std::map<std::string, std::string> stored_tokenizers(const Task& task) {
  std::map<std::string, std::string> files;
  if (task.tokenizer() != nullptr) {
    files[stored_tokenizer] = task.tokenizer()->stored();
    files[stored_vocabulary] = task.tokenizer()->vocabulary();
  }
  if (task.source_tokenizer() != nullptr) {
    files[stored_source_vocabulary] = task.source_tokenizer()->vocabulary();
  }
  files[stored_classes] = task.classes();
  std::erase_if(files, [](const auto& file) { return file.second.empty(); });
  return files;
}

void Score::keep_hardest() {
  std::stable_sort(hardest.begin(), hardest.end(),
                   [](const HardExample& a, const HardExample& b) { return a.loss > b.loss; });
  hardest.resize(std::min(hardest.size(), most_hardest));
}

TaskRegistry& task_registry() {
  static TaskRegistry& registry = TaskRegistry::filled("task", register_tasks);
  return registry;
}

}  // namespace heed
