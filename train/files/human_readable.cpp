#include "train/files/human_readable.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include "layers/text/display.h"
#include "layers/text/formatted.h"
#include "layers/text/utf8.h"

namespace heed {

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

std::string bytes_text(int64_t bytes) {
  const auto b = static_cast<double>(bytes);
  if (b < 1e3) {
    return formatted("%.0f B", b);
  }
  if (b < 999'500) {
    return formatted(b < 1e5 ? "%.1f kB" : "%.0f kB", b / 1e3);
  }
  if (b < 999.5e6) {
    return formatted(b < 1e8 ? "%.1f MB" : "%.0f MB", b / 1e6);
  }
  return formatted(b < 1e11 ? "%.2f GB" : "%.0f GB", b / 1e9);
}

std::string short_number(double number) {
  const struct {
    double unit;
    const char* name;
  } units[] = {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}};
  for (const auto& [unit, name] : units) {
    if (number >= 0.9995 * unit) {  // three digits of less round up to the unit
      return formatted("%.3g", number / unit) + name;
    }
  }
  return formatted("%.3g", number);
}

std::string loss_text(double loss) {
  return formatted(loss > 0 && loss < 0.001 ? "%.1e" : "%.4f", loss);
}

namespace {

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_./-+,:@%=").find(c) != std::string_view::npos;
}

// The size of the character at `at`; 0 if it cannot be seen, and for bytes that are not UTF-8.
size_t printable_size(std::string_view word, size_t at) {
  const Utf8Character character = utf8_at(word, at);
  return steers_or_hides(character.code) ? 0 : character.size;
}

}  // namespace

std::string shell_word(const std::string& word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) {
    return word;
  }
  std::string plain = "'", escaped = "$'";
  bool needs_escapes = false;
  for (size_t at = 0; at < word.size();) {
    const size_t size = printable_size(word, at);
    const std::string part = word.substr(at, std::max<size_t>(1, size));
    if (size == 0) {
      needs_escapes = true;
      escaped += formatted("\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(word[at])));
    } else {
      plain += part == "'" ? "'\\''" : part;
      escaped += part == "'" || part == "\\" ? "\\" : "";
      escaped += part;
    }
    at += part.size();
  }
  return (needs_escapes ? escaped : plain) + "'";
}

}  // namespace heed
