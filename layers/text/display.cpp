#include "layers/text/display.h"

#include <utf8proc.h>

#include <algorithm>

#include "layers/text/formatted.h"
#include "layers/text/utf8.h"

namespace heed {

namespace {

const utf8proc_property_t& properties(char32_t code) {
  return *utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
}

bool joins_or_varies(char32_t code) {
  const auto within = [code](char32_t low, char32_t high) { return low <= code && code <= high; };
  return within(0x180B, 0x180D) || code == 0x180F || within(0x200C, 0x200D) ||
         within(0xFE00, 0xFE0F) || within(0xE0100, 0xE01EF);
}

// Appends the character at byte `at` in a visible form and returns its size in bytes.
size_t append_visible(std::string& out, std::string_view text, size_t at, std::string_view kept) {
  const auto [code, size, cut] = utf8_at(text, at);
  if (size == 0) {
    out += formatted("\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(text[at])));
    return 1;
  }
  const bool stays =
      !steers_or_hides(code) || (size == 1 && kept.find(text[at]) != std::string_view::npos);
  if (stays) {
    out += text.substr(at, size);
  } else if (code == U'\n') {
    out += "\\n";
  } else {
    const char* const format = code < 0x80 ? "\\x%02x" : code < 0x10000 ? "\\u%04x" : "\\U%08x";
    out += formatted(format, static_cast<unsigned>(code));
  }
  return size;
}

}  // namespace

bool steers_or_hides(char32_t code) {
  const utf8proc_property_t& p = properties(code);
  const bool control = p.boundclass == UTF8PROC_BOUNDCLASS_CONTROL ||
                       p.boundclass == UTF8PROC_BOUNDCLASS_CR ||
                       p.boundclass == UTF8PROC_BOUNDCLASS_LF;
  // Reserved for characters to be ignored; the tables of utf8proc have assigned ones only.
  const bool reserved = code == 0x2065 || code >> 12 == 0xE0;
  return !joins_or_varies(code) && (control || reserved || p.ignorable != 0);
}

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

std::string visible(char32_t code) {
  if (code == U'\n') return "\\n";
  if (code == U'\r') return "\\r";
  if (code == U'\t') return "\\t";
  if (code == U' ') return "␣";
  const utf8proc_property_t& p = properties(code);
  const auto category = static_cast<utf8proc_category_t>(p.category);
  const bool mark = category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME;
  // From ZS on: separators, controls, formats, private use.
  const bool other = category == UTF8PROC_CATEGORY_CN || category >= UTF8PROC_CATEGORY_ZS;
  return mark || other || p.ignorable != 0 ? formatted("U+%04X", static_cast<unsigned>(code))
                                           : to_utf8(code);
}

size_t display_width(char32_t code) {
  const auto category = static_cast<utf8proc_category_t>(properties(code).category);
  // Marks beside their letter (Mc) take a column on a terminal; utf8proc counts none.
  const bool beside = category == UTF8PROC_CATEGORY_MC;
  return beside ? 1 : static_cast<size_t>(utf8proc_charwidth(static_cast<utf8proc_int32_t>(code)));
}

size_t display_width(std::string_view text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) {
    const Utf8Character character = utf8_at(text, at);
    columns += character.size == 0 ? 1 : display_width(character.code);
    at += std::max<size_t>(1, character.size);
  }
  return columns;
}

}  // namespace heed
