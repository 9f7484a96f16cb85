// The text side of a task: names, prompts, answers.
#include <algorithm>
#include <span>

#include "autograd/base/rethrow.h"
#include "layers/module/evaluation_mode.h"
#include "train/data/task.h"
#include "train/data/text_stream.h"
#include "train/tokenizers/vocabulary.h"

namespace heed {

namespace {

Answer continued(Module& model, const Tokenizer& tokenizer, const std::string& prompt,
                 const AnswerOptions& options) {
  const std::vector<int32_t> before = tokenizer.encode(prompt);
  TextStream stream(tokenizer);
  const int32_t last_read = before.empty() ? -1 : before.back();
  stream.push(prompt, last_read);
  const std::vector<int32_t> after = generate(
      model, before, options.tokens, options.sampling, options.context_length,
      [&](int32_t id) { options.say(stream.push(id)); }, options.stop);
  options.say(stream.finish());
  const size_t shown = std::min(before.size(), static_cast<size_t>(options.context_length));
  const std::span<const int32_t> last(before.end() - static_cast<ptrdiff_t>(shown), before.end());
  return {decode_after(tokenizer, last_read, after),
          Ids::from({1, static_cast<int64_t>(shown)}, last)};
}

}  // namespace

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
    return continued(model, *tokenizer(), prompt, options);
  }
  const std::vector<int32_t> asked = question_of(prompt);
  const EvaluationMode evaluating(model);
  Answer answer = reply(model, asked, options);
  options.say(answer.text);
  return answer;
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

}  // namespace heed
