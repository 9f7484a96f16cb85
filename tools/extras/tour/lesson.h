// A tour step as text, and its numbers as JSON.
#pragma once

#include "tools/extras/tour/step.h"

namespace heed::tour {

StepValues run(const Step& step, const TourInputs& in);

// The text of a step with its title, in lines of up to `width` columns. Tensors and formulas keep
// their lines; tensors are printed as in PyTorch.
inline constexpr size_t widest_lesson = 88;
std::string lesson(const Step& step, const TourInputs& in, const StepValues& shown,
                   size_t width = widest_lesson);

// The lines `"key": [[...], ...]` of a JSON object. Numbers have the fewest digits that read back
// as the same float32; "-inf", "inf" and "nan" are strings. Values without a key are left out or,
// with `all`, get the key "<step>.<name>". So are those whose key is for the step alone.
std::vector<std::string> json_lines(const Step& step, const StepValues& shown, bool all);

// What the page of the tour is given: {"version", "bits", "words", "common": {name: text},
// "inputs", "steps": [{"name", "title", "source", "file", "text", "values": {name: value}, "drawn":
// {name: value}}]}. Tensors are nested lists, as in json_lines(). Values of which `computed`, an
// object as of --json, has "<step>.<name>" are taken from there.
std::string page_json(const std::vector<Step>& steps, const TourInputs& in,
                      const std::string& computed = "{}");

}  // namespace heed::tour
