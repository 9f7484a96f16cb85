#include "autograd/base/text.h"

#include "autograd/base/utf8.h"

namespace heed {

namespace {

bool steers_a_terminal(char32_t c) {
  const auto within = [c](char32_t low, char32_t high) { return c >= low && c <= high; };
  return c < 0x20 || within(0x7F, 0x9F) || c == 0x61C || within(0x200E, 0x200F) ||
         within(0x202A, 0x202E) || within(0x2066, 0x2069);
}

// Appends `digits` hexadecimal digits after a prefix.
void append_hexadecimal(std::string& out, const char* prefix, char32_t number, int digits) {
  out += prefix;
  for (int place = digits - 1; place >= 0; --place) {
    out += "0123456789abcdef"[number >> 4 * place & 15];
  }
}

// Appends the character at byte `at` in a visible form and returns its size in bytes.
size_t append_visible(std::string& out, std::string_view text, size_t at, std::string_view kept) {
  const Utf8Character character = utf8_at(text, at);
  if (character.size == 0) {
    append_hexadecimal(out, "\\x", static_cast<unsigned char>(text[at]), 2);
    return 1;
  }
  const bool stays = !steers_a_terminal(character.code) ||
                     (character.size == 1 && kept.find(text[at]) != std::string_view::npos);
  if (stays) {
    out += text.substr(at, character.size);
  } else if (character.code == U'\n') {
    out += "\\n";
  } else if (character.code < 0x80) {
    append_hexadecimal(out, "\\x", character.code, 2);
  } else {
    append_hexadecimal(out, "\\u", character.code, 4);
  }
  return character.size;
}

}  // namespace

std::string printable(std::string_view text, size_t limit) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (out.size() >= limit) {
      return out + "...";
    }
    at += append_visible(out, text, at, "");
  }
  return out;
}

std::string printable_lines(std::string_view text, std::string_view kept) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    at += append_visible(out, text, at, kept);
  }
  return out;
}

}  // namespace heed
