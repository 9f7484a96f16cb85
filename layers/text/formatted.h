// Numbers as text, in a format of printf.
#pragma once

#include <locale.h>

#include <cstdarg>
#include <cstdio>
#include <string>

namespace heed {

// formatted("%.1f%%", 99.8) is "99.8%", whatever locale a host program has set. The compiler checks
// the values against the format.
[[gnu::format(printf, 1, 2)]] inline std::string formatted(const char* format, ...) {
  char text[512];  // the largest double has 309 digits before the point
  std::va_list values;
  va_start(values, format);
  static const locale_t none = newlocale(LC_ALL_MASK, "C", nullptr);
  const locale_t before = uselocale(none);
  std::vsnprintf(text, sizeof text, format, values);
  uselocale(before);
  va_end(values);
  return text;
}

}  // namespace heed
