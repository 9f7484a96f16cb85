// What `heed probe` prints on a terminal.
#pragma once

#include <string>
#include <vector>

#include "tools/extras/probe/ablate.h"
#include "tools/extras/probe/lens.h"
#include "tools/extras/probe/patch.h"
#include "tools/extras/probe/write.h"
#include "tools/extras/report/heads.h"
#include "tools/extras/report/pages/heat_map.h"
#include "train/data/task.h"

namespace heed::cli {

// "[7][ 3][ 21]": tokens one by one, so that the reader sees where each begins.
std::string tokens_text(const std::vector<std::string>& names);

// One line a head: "block 1 head 0   induction 0.93", and all of its scores.
std::string heads_text(const probe::HeadScores& scores);
// One row a position, one column a block: the likeliest token, coloured by its probability.
std::string lens_text(const probe::Lens& lens, const Task& text, const HeatMapStyle& style);
std::string ablations_text(const probe::Ablations& ablations);
// Shares by position, with the tokens of both prompts, and by head.
std::string patches_text(const probe::Patches& patches, const std::vector<std::string>& clean,
                         const std::vector<std::string>& corrupt, const HeatMapStyle& style);
// Shares of an answer by row and column, each in its colour; nothing if no column has any.
std::string shares_text(const std::string& title, const std::vector<std::string>& rows,
                        const std::vector<std::string>& columns,
                        const std::vector<std::vector<double>>& shares, const HeatMapStyle& style);
// "head 0", "head 1", ..., as many as the block with most has.
std::vector<std::string> head_names(const probe::Patches& patches);
// "+1.25", "-0.03".
std::string with_sign(double value, int digits);
// Values of parts by name and block, each in its colour; parts outside of blocks are left out.
std::string contributions_text(const probe::Attribution& attribution, const HeatMapStyle& style);
// Sums by kind of part, then what each part adds by block. `wrong`: empty if there is none.
std::string attribution_text(const probe::Attribution& attribution, const std::string& answer,
                             const std::string& wrong, const HeatMapStyle& style);

}  // namespace heed::cli
