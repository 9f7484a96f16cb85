// Large numbers for people.
#pragma once

#include <cstdint>
#include <string>

namespace heed {

// 1234567 -> "1,234,567", for numbers from 0 on.
inline std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

}  // namespace heed
