// What a trained model has read, for commands that show it.
#pragma once

#include <optional>
#include <string>

#include "tools/commands/run.h"
#include "tools/extras/report/pages/attention_maps.h"

namespace heed::cli {

// What the model answers to a prompt and, as Answer::shown, what it then has read. Of a task on
// texts, the prompt alone: nothing is generated. Throws ConfigError for a prompt that the task does
// not take, or that is longer than the model's context: the model would read only the end of it.
// The message begins with `option`, "heed probe: --prompt".
Answer answer_to(const TrainedRun& run, const std::string& option, const std::string& prompt);

// What `command`, "heed explain", shows: for --prompt the answer to it, for --ids these, without
// either exhibit(). Of both, `ids` wins.
Exhibit asked(const TrainedRun& run, const std::string& command,
              const std::optional<std::string>& prompt, const std::optional<std::string>& ids);

}  // namespace heed::cli
