#include "autograd/base/text.h"

#include <algorithm>
#include <iterator>

#include "autograd/base/utf8.h"

namespace heed {

namespace {

struct CodeRange {
  char32_t first, last;
};

// In ascending order.
constexpr CodeRange hidden[] = {
    {0x00, 0x1F},     {0x7F, 0x9F},      {0xAD, 0xAD},     {0x34F, 0x34F},   {0x61C, 0x61C},
    {0x115F, 0x1160}, {0x17B4, 0x17B5},  {0x180E, 0x180E}, {0x200B, 0x200B}, {0x200E, 0x200F},
    {0x2028, 0x202E}, {0x2060, 0x206F},  {0x3164, 0x3164}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0},
    {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F}};

bool steers_or_hides(char32_t c) {
  return std::any_of(std::begin(hidden), std::end(hidden),
                     [c](const CodeRange& range) { return range.first <= c && c <= range.last; });
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
  const bool stays = !steers_or_hides(character.code) ||
                     (character.size == 1 && kept.find(text[at]) != std::string_view::npos);
  if (stays) {
    out += text.substr(at, character.size);
  } else if (character.code == U'\n') {
    out += "\\n";
  } else if (character.code < 0x80) {
    append_hexadecimal(out, "\\x", character.code, 2);
  } else if (character.code < 0x10000) {
    append_hexadecimal(out, "\\u", character.code, 4);
  } else {
    append_hexadecimal(out, "\\U", character.code, 8);
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
