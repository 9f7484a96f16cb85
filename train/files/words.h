// Numbers formatted for people.
#pragma once

#include <cstdint>
#include <string>

namespace heed {

std::string grouped(int64_t number);     // 62300 -> "62,300"
std::string clock_text(double seconds);  // 3725 -> "1:02:05", 34 -> "0:34"
std::string megabytes(int64_t bytes);    // 73400320 -> "73.4 MB"; "12.5 GB" above 10 GB

}  // namespace heed
