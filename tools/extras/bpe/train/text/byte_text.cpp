#include "tools/extras/bpe/train/text/byte_text.h"

#include <array>

#include "layers/text/utf8.h"

namespace heed {

namespace {

constexpr char32_t alphabet_end = 0x144;

struct Alphabet {
  std::array<char32_t, 256> characters{};  // by byte
  std::array<int, alphabet_end> bytes{};   // by character; -1: none

  constexpr Alphabet() {
    bytes.fill(-1);
    char32_t next = 0x100;
    for (char32_t byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
      characters[byte] = printable ? byte : next++;
      bytes[characters[byte]] = static_cast<int>(byte);
    }
  }
};
constexpr Alphabet alphabet;

}  // namespace

char32_t byte_character(unsigned char byte) { return alphabet.characters[byte]; }

std::string byte_text(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    append_utf8(text, byte_character(static_cast<unsigned char>(byte)));
  }
  return text;
}

std::optional<std::string> bytes_of_text(std::string_view text) {
  std::string bytes;
  for (size_t at = 0; at < text.size();) {
    const Utf8Character c = utf8_at(text, at);
    if (c.size == 0 || c.code >= alphabet_end || alphabet.bytes[c.code] < 0) {
      return std::nullopt;
    }
    bytes += static_cast<char>(alphabet.bytes[c.code]);
    at += c.size;
  }
  return bytes;
}

}  // namespace heed
