// UTF-8 decoding and encoding (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed {

struct Utf8Character {
  char32_t code = 0;
  size_t size = 0;   // bytes; 0: no valid character here
  bool cut = false;  // the text ends in the middle of a character (size is 0)
};

namespace detail {
Utf8Character long_character_at(std::string_view text, size_t at);
}

// Decodes the character at byte `at`, which must be within the text. Inline, since texts of
// megabytes are read character by character, and most of these are ASCII.
inline Utf8Character utf8_at(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  return first < 0x80 ? Utf8Character{first, 1, false} : detail::long_character_at(text, at);
}

// The first byte from `at` on that is part of no character; the end of the text if there is none.
size_t first_wrong_byte(std::string_view text, size_t at = 0);

// The text without the beginning of a character at its end whose other bytes are missing.
std::string_view whole_characters(std::string_view text);

// True for Unicode's letters, marks and numbers (L, M, N); for white space, as \s in Perl.
bool is_word_part(char32_t code);
bool is_space(char32_t code);

// Unicode's normalisation form C: letters and marks as one character where there is one. A text
// that is no UTF-8 stays as it is.
std::string composed(std::string_view text);

// Without U+FEFF, which some editors write at the beginning of a file.
inline std::string_view without_byte_order_mark(std::string_view text) {
  return text.substr(text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
}

// A line from any system: without that and a carriage return at its end.
inline std::string_view plain_line(std::string_view line) {
  return without_byte_order_mark(line.substr(0, line.size() - (line.ends_with('\r') ? 1 : 0)));
}

void append_utf8(std::string& text, char32_t code);
std::string to_utf8(char32_t code);

}  // namespace heed
