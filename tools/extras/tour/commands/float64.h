// The numbers of `heed tour backward` for a page, which heed writes and heed-f64 computes.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace heed::cli {

// What `heed-f64 tour backward --json` prints with these flags. None, after a line on standard
// error, if that program is not built or fails.
std::optional<std::string> tour_in_float64(const std::vector<std::string>& flags);

}  // namespace heed::cli
