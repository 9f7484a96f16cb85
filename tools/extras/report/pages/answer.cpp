#include "tools/extras/report/pages/answer.h"

#include "autograd/base/rethrow.h"

namespace heed::cli {

Answer answer_to(const TrainedRun& run, const std::string& option, const std::string& prompt) {
  require_tokenizer(run, option + ": the model");
  const Task& task = *run.loaded.task;
  with_place<ConfigError>(option + ": ", [&] { task.check_prompt(prompt); });
  const AnswerOptions options{.tokens = 0, .context_length = run.loaded.config.context_length()};
  Answer answer = task.answer(*run.model, prompt, options);
  // Other prompts are limited by check_prompt(), and need not be a text of the tokenizer.
  const auto tokens = task.continues_prompt() ? std::ssize(task.tokenizer()->encode(prompt)) : 0;
  const int64_t longest = options.context_length;
  require<ConfigError>(longest == 0 || tokens <= longest, option, ": expected at most ", longest,
                       " tokens, the model's context, got ", tokens);
  return answer;
}

Exhibit asked(const TrainedRun& run, const std::string& command,
              const std::optional<std::string>& prompt, const std::optional<std::string>& ids) {
  if (ids) {
    return {*ids, "", input_of_ids(*run.model, command + ": --ids", *ids)};
  }
  if (!prompt) {
    return exhibit(*run.model, *run.loaded.task, run.loaded.config);
  }
  const Answer answer = answer_to(run, command + ": --prompt", *prompt);
  return {*prompt, answer.text, answer.shown};
}

}  // namespace heed::cli
