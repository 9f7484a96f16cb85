#include "tools/extras/probe/question.h"

#include <algorithm>

#include "autograd/base/rethrow.h"
#include "layers/config/values.h"
#include "layers/text/display.h"
#include "tools/extras/probe/probe_text.h"
#include "tools/extras/report/pages/answer.h"

namespace heed {

cli::ProbesRegistry& probes_registry() {
  static auto& registry = cli::ProbesRegistry::filled("probes", [](cli::ProbesRegistry&) {});
  return registry;
}

}  // namespace heed

namespace heed::cli {

const std::string& needed(const ProbeOptions& o, const std::optional<std::string>& value,
                          const char* option) {
  require<ConfigError>(value.has_value(), "heed probe: ", o.probe, " needs ", option);
  return *value;
}

int32_t column_of(const TrainedRun& run, const std::string& option, const std::string& answer) {
  const Task& task = *run.loaded.task;
  if (task.tokenizer() == nullptr) {
    return input_of_ids(*run.model, option, answer).ids.data()[0];
  }
  const int64_t columns = task.output_size();
  for (int32_t id = 0; id < columns; ++id) {
    if (task.target_name(id) == answer) return id;
  }
  const bool classes = columns != task.tokenizer()->vocab_size();
  std::vector<std::string> names;
  for (int32_t id = 0; classes && id < std::min<int64_t>(columns, 20); ++id) {
    names.push_back(task.target_name(id));
  }
  require<ConfigError>(!classes, option, ": expected a class, ", joined(names), ", got ",
                       printable(answer, 40));
  const std::vector<int32_t> ids =
      with_place<ConfigError>(option + ": ", [&] { return task.tokenizer()->encode(answer); });
  require<ConfigError>(!ids.empty(), option, ": expected one token, got none");
  require<ConfigError>(ids.size() == 1, option, ": expected one token, got ", ids.size(), ": ",
                       tokens_text(token_names(task.tokenizer(), ids)));
  return ids.front();
}

Input read_of(const TrainedRun& run, const std::string& option, const std::string& prompt) {
  return run.loaded.task->tokenizer() == nullptr ? input_of_ids(*run.model, option, prompt)
                                                 : answer_to(run, option, prompt).shown;
}

Input prompt_of(const ProbeOptions& o, const TrainedRun& run) {
  require<ConfigError>(!o.prompt || !o.ids, "heed probe: --prompt and --ids: give one of them");
  return o.ids ? input_of_ids(*run.model, "heed probe: --ids", *o.ids)
               : answer_to(run, "heed probe: --prompt",
                           needed(o, o.prompt, "--prompt, the text to read"))
                     .shown;
}

CleanAndCorrupt clean_and_corrupt(const ProbeOptions& o, const TrainedRun& run) {
  const Task& task = *run.loaded.task;
  CleanAndCorrupt both;
  both.clean = read_of(run, "heed probe: --clean", needed(o, o.clean, "--clean, the prompt"));
  both.corrupt = read_of(run, "heed probe: --corrupt",
                         needed(o, o.corrupt, "--corrupt, a prompt with another answer"));
  both.clean_names = token_names(task.tokenizer(), both.clean.ids);
  both.corrupt_names = token_names(task.tokenizer(), both.corrupt.ids);
  require<ConfigError>(
      both.clean_names.size() == both.corrupt_names.size() || both.clean.source_ids,
      "heed probe: patch: expected prompts of the same length, got ", both.clean_names.size(),
      " tokens, ", tokens_text(both.clean_names), ", and ", both.corrupt_names.size(), ", ",
      tokens_text(both.corrupt_names));
  return both;
}

probe::Measure measure_of(const ProbeOptions& o, const TrainedRun& run, const char* what) {
  const int32_t right = column_of(run, "heed probe: --answer", needed(o, o.answer, what));
  const std::optional<int32_t> wrong =
      o.wrong ? std::optional(column_of(run, "heed probe: --wrong", *o.wrong)) : std::nullopt;
  require<ConfigError>(wrong != right, "heed probe: --wrong: expected another token than --answer");
  const Tokenizer* const tokens = run.loaded.task->tokenizer();
  const std::string last =
      token_name(tokens, static_cast<int32_t>(run.loaded.task->model_size("vocab_size")) - 1);
  for (const auto& text : {o.prompt, o.clean, o.corrupt}) {
    require<ConfigError>(
        last != "[MASK]" || !text || text->ends_with(last), "heed probe: expected ", last,
        " at the end of the prompt, where the answer is, got ", printable(text.value_or("")));
  }
  return {right, wrong};
}

}  // namespace heed::cli
