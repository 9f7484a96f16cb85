// Numbers as text, in a format of printf.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>

namespace heed {

// formatted("%.1f%%", 99.8) is "99.8%". The compiler checks the values against the format.
[[gnu::format(printf, 1, 2)]] inline std::string formatted(const char* format, ...) {
  char text[512];  // the largest double has 309 digits before the point
  std::va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return text;
}

}  // namespace heed
