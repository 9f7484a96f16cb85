// The results of probes of gradients as JSON, one object in a line.
#pragma once

#include <string>

#include "tools/extras/gradients/measure/attribute.h"
#include "tools/extras/gradients/measure/estimate.h"
#include "tools/extras/gradients/measure/reach.h"
#include "tools/extras/gradients/measure/teach.h"

namespace heed::cli {

// {"logit", "parts": [{"part", "layer", "block", "head", "value"}],
//  "tokens": [{"position", "token", "value"}]}; a token of a second sequence has "source": true
std::string to_json(const gradients::Attributions& found, const Task& task);
// What probe::to_json gives of `measured`, then "correlation" and "parts":
// [{"part", "block", "position", "head", "value", "estimate"}]
std::string to_json(const probe::Patches& measured, const probe::Patches& estimated);
// {"before", "after", "loss_before", "loss_after", "parameters": [{"name", "grad_norm",
//  "update_norm", "weight_norm", "writes"}], "others": [{"text", "loss_before", "loss_after"}]}
std::string to_json(const gradients::Lesson& found, const Task& task);
// {"windows", "gradient_norm"} and, of two sequences, "source_gradient_norm"
std::string to_json(const gradients::Reach& found);

}  // namespace heed::cli
