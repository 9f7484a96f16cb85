#include "train/files/words.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace heed {

namespace {
template <class... Values>
std::string formatted(const char* format, Values... values) {
  char words[64];
  std::snprintf(words, sizeof words, format, values...);
  return words;
}
}  // namespace

std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(digits.begin() + static_cast<std::ptrdiff_t>(at), ',');
  }
  return digits;
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long long>(std::llround(std::max(0.0, seconds)));
  const long long hours = whole / 3600, minutes = whole / 60 % 60, rest = whole % 60;
  return hours > 0 ? formatted("%lld:%02lld:%02lld", hours, minutes, rest)
                   : formatted("%lld:%02lld", minutes, rest);
}

std::string megabytes(int64_t bytes) {
  const double mb = static_cast<double>(bytes) / 1e6;
  if (mb >= 1e4) {
    return formatted("%.1f GB", mb / 1e3);
  }
  return formatted(mb < 100 ? "%.1f MB" : "%.0f MB", mb);
}

}  // namespace heed
