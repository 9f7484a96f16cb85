#include "autograd/base/utf8.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace heed {

namespace {

// The lead byte of a character: length in bytes, payload bits of the first byte, and the valid
// range of the second byte (later bytes are always 80 to BF).
struct Lead {
  size_t size;
  unsigned bits, low, high;
};

Lead lead_of(unsigned first) {
  if (first < 0x80) return {1, first, 0, 0};
  if (first >= 0xC2 && first <= 0xDF) return {2, first & 0x1F, 0x80, 0xBF};
  if (first >= 0xE0 && first <= 0xEF) {
    return {3, first & 0x0F, first == 0xE0 ? 0xA0u : 0x80u, first == 0xED ? 0x9Fu : 0xBFu};
  }
  if (first >= 0xF0 && first <= 0xF4) {
    return {4, first & 0x07, first == 0xF0 ? 0x90u : 0x80u, first == 0xF4 ? 0x8Fu : 0xBFu};
  }
  return {0, 0, 0, 0};
}

// Control characters, and marks and blanks without a visible glyph.
bool is_invisible(char32_t c) {
  const auto within = [c](char32_t low, char32_t high) { return c >= low && c <= high; };
  return within(0, 0x1F) || within(0x7F, 0xA0) || c == 0xAD || within(0x300, 0x36F) || c == 0x61C ||
         within(0x2000, 0x200F) || within(0x2028, 0x202F) || within(0x205F, 0x206F) ||
         c == 0x3000 || within(0xE000, 0xF8FF) || within(0xFE00, 0xFE0F) || c == 0xFEFF ||
         within(0xE0000, 0x10FFFF);
}

}  // namespace

Utf8Character utf8_at(std::string_view text, size_t at) {
  const Lead lead = lead_of(static_cast<unsigned char>(text[at]));
  unsigned code = lead.bits;
  for (size_t k = 1; k < lead.size; ++k) {
    if (at + k == text.size()) {
      return {0, 0, true};
    }
    const unsigned byte = static_cast<unsigned char>(text[at + k]);
    if (byte < (k == 1 ? lead.low : 0x80) || byte > (k == 1 ? lead.high : 0xBF)) {
      return {};
    }
    code = code << 6 | (byte & 0x3F);
  }
  return {static_cast<char32_t>(code), lead.size, false};
}

void append_utf8(std::string& text, char32_t code) {
  const auto put = [&](char32_t byte) {
    text += static_cast<char>(static_cast<unsigned char>(byte));
  };
  if (code < 0x80) {
    put(code);
    return;
  }
  const int tail = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes after the first
  constexpr std::array<char32_t, 4> marks = {0, 0xC0, 0xE0, 0xF0};
  put(marks[static_cast<size_t>(tail)] | code >> 6 * tail);
  for (int k = tail - 1; k >= 0; --k) {
    put(0x80 | (code >> 6 * k & 0x3F));
  }
}

std::string to_utf8(char32_t code) {
  std::string text;
  append_utf8(text, code);
  return text;
}

std::string visible(char32_t code) {
  switch (code) {
    case U'\n':
      return "\\n";
    case U'\r':
      return "\\r";
    case U'\t':
      return "\\t";
    case U' ':
      return "␣";
    default:
      break;
  }
  if (!is_invisible(code)) {
    return to_utf8(code);
  }
  char digits[16];
  std::snprintf(digits, sizeof digits, "U+%04X", static_cast<unsigned>(code));
  return digits;
}

}  // namespace heed
