#include "train/wings/own_data/rows/lines.h"

#include <algorithm>
#include <cstring>

#include "autograd/base/error.h"
#include "layers/text/formatted.h"
#include "layers/text/utf8.h"

namespace heed {

std::optional<Line> Lines::next() {
  while (!left_.empty()) {
    const auto* const found =
        static_cast<const char*>(std::memchr(left_.data(), '\n', left_.size()));
    const size_t end = found == nullptr ? left_.size() : static_cast<size_t>(found - left_.data());
    std::span<char> line = left_.first(end);
    left_ = left_.subspan(std::min(left_.size(), end + 1));
    ++number_;
    if (!line.empty() && line.back() == '\r') {
      line = line.first(line.size() - 1);
    }
    if (!line.empty()) {
      return Line{line, number_};
    }
  }
  return std::nullopt;
}

std::string_view without_blanks(std::string_view cell) {
  constexpr std::string_view blanks = " \t\n\v\f\r";
  const size_t first = cell.find_first_not_of(blanks);
  return first == std::string_view::npos
             ? std::string_view()
             : cell.substr(first, cell.find_last_not_of(blanks) + 1 - first);
}

std::string wrong_bytes(std::string_view text, int64_t& line) {
  const size_t at = std::min(first_wrong_byte(text), text.find('\0'));
  if (at == text.size()) {
    return "";
  }
  line = std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n');
  return heed::text("expected UTF-8, got the byte ",
                    formatted("0x%02X", static_cast<unsigned char>(text[at])), " in column ",
                    column_of(text, at),
                    text[at] == '\0' ? " (a file in UTF-16 has such bytes)" : "");
}

int64_t column_of(std::string_view text, size_t at) {
  const size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  return 1 + std::count_if(text.begin() + static_cast<ptrdiff_t>(begin),
                           text.begin() + static_cast<ptrdiff_t>(at),
                           [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

}  // namespace heed
