// The alphabet in which vocabulary files of byte-level tokenizers write bytes. JSON holds
// characters only, so GPT-2's encoder gives each byte a character that can be printed: a byte that
// is printable in Latin-1 is that character, the other 68 are U+0100 and following. A blank is
// U+0120, a newline U+010A.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heed {

// The character of a byte, U+0021 to U+0143.
char32_t byte_character(unsigned char byte);

// Bytes in this alphabet, as UTF-8.
std::string byte_text(std::string_view bytes);

// The reverse; nullopt if a character is not in the alphabet.
std::optional<std::string> bytes_of_text(std::string_view text);

}  // namespace heed
