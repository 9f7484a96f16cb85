// What probes of gradients print on a terminal.
#pragma once

#include <string>
#include <vector>

#include "tools/extras/gradients/measure/attribute.h"
#include "tools/extras/gradients/measure/estimate.h"
#include "tools/extras/gradients/measure/reach.h"
#include "tools/extras/gradients/measure/teach.h"
#include "tools/extras/report/pages/heat_map.h"

namespace heed::cli {

// The prompt with a value below each token, then the parts by block. `wrong`: empty if there is
// none.
std::string attribution_text(const gradients::Attributions& found, const Task& task,
                             const std::string& answer, const std::string& wrong,
                             const HeatMapStyle& style);
// Measured and estimated shares of feed-forwards and heads, and their correlation.
std::string estimates_text(const probe::Patches& measured, const probe::Patches& estimated,
                           const std::vector<std::string>& tokens, const HeatMapStyle& style);
std::string lesson_text(const gradients::Lesson& found, const Task& task, double lr,
                        const HeatMapStyle& style);
// A bar for each of some distances, on a logarithmic scale. `asked`: of one prompt.
std::string reach_text(const gradients::Reach& found, bool asked, const HeatMapStyle& style);

}  // namespace heed::cli
