// Attention as it formed in training: an animated picture (SVG) that a page or README can show.
#pragma once

#include <string>

#include "tools/extras/report/record.h"

namespace heed {

// The heads of one layer side by side, a row for each query and a column for each key: every square
// goes through the weights that it had at the evaluations, on to the last one, and begins again.
// It needs no script, and stands still, as it was in the end, for a reader who asked for less
// motion. `layer`: a path, "trf_blocks.0.att"; "": the last. Throws ConfigError if the record has
// no maps (a model without attention), or no such layer, naming those that it has.
std::string attention_animation(const ReportRecord& record, const std::string& layer = "");

}  // namespace heed
