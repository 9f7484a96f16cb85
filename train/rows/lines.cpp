#include "train/rows/lines.h"

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

namespace {

// The first byte that is no UTF-8, or NUL; npos if there is none.
size_t first_wrong_byte(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte - 1U < 0x7FU) {  // 1 to 0x7F
      ++at;
      continue;
    }
    const size_t size = byte == 0 ? 0 : utf8_at(text, at).size;
    if (size == 0) {
      return at;
    }
    at += size;
  }
  return std::string_view::npos;
}

}  // namespace

std::string wrong_bytes(std::string_view text, int64_t& line) {
  const size_t at = first_wrong_byte(text);
  if (at == std::string_view::npos) {
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
