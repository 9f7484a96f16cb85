// UTF-8: characters out of bytes and back (RFC 3629: no overlong forms, no surrogates, nothing
// above U+10FFFF).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed {

struct Utf8Character {
  char32_t code = 0;
  size_t size = 0;   // bytes; 0: no character begins here
  bool cut = false;  // size 0 because the text ends within what could become a character
};

// The character that begins at `at`, which lies within the text.
Utf8Character utf8_at(std::string_view text, size_t at);

void append_utf8(std::string& text, char32_t code);
std::string to_utf8(char32_t code);

// The character as people can see it: "\n" for a newline, "␣" for a blank, "U+00AD" for what has no
// picture.
std::string visible(char32_t code);

}  // namespace heed
