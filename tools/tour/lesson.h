// A step as text for people, and its numbers as JSON.
#pragma once

#include "tools/tour/step.h"

namespace heed::tour {

Shown run(const Step& step, const Given& given);

// The step under its title, at most 88 columns wide; tensors as PyTorch prints them.
std::string lesson(const Step& step, const Given& given, const Shown& shown);

// The lines `"key": [[...], ...]` of a JSON object. Numbers have the fewest digits that give the
// same float32 back; "-inf", "inf" and "nan" are strings. What has no key is left out or, with
// `all`, comes as "<step>.<name>".
std::vector<std::string> json_lines(const Step& step, const Shown& shown, bool all);

}  // namespace heed::tour
