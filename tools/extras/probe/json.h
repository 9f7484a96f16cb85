// The results of probes as JSON, one object in a line, for `heed probe --json` and its pages.
#pragma once

#include <string>

#include "tools/extras/probe/ablate.h"
#include "tools/extras/probe/lens.h"
#include "tools/extras/probe/patch.h"
#include "tools/extras/probe/write.h"
#include "tools/extras/report/heads.h"
#include "train/data/task.h"

namespace heed::probe {

// In one line. Half a character, as byte tokens have them, is replaced.
template <class Json>
std::string dumped(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

// {"repeat", "sequences", "heads": [{"layer", "block", "head", scores...}]}; "repeat" is null for
// examples, and scores that have no meaning are absent.
std::string to_json(const HeadScores& scores);
// {"tokens", "blocks": [[{"id", "token", "probability", "rank"}]]}
std::string to_json(const Lens& lens, const Task& text);
// {"loss", "accuracy", "parts": [{"part", "head", "loss", "accuracy"}]}
std::string to_json(const Ablations& ablations);
// {"clean", "corrupt", "residual", "attention", "feed_forward", "heads"}
std::string to_json(const Patches& patches);
// {"logit", "parts": [{"part", "block", "head", "value"}]}
std::string to_json(const Attribution& attribution);

}  // namespace heed::probe
