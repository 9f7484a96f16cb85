#include "layers/text/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace heed {

namespace {

Utf8Character decoded(std::string_view bytes) {
  utf8proc_int32_t code = 0;
  const utf8proc_ssize_t size =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(bytes.data()),
                       static_cast<utf8proc_ssize_t>(bytes.size()), &code);
  return size > 0 ? Utf8Character{static_cast<char32_t>(code), static_cast<size_t>(size), false}
                  : Utf8Character{};
}

}  // namespace

Utf8Character detail::long_character_at(std::string_view text, size_t at) {
  const std::string_view next = text.substr(at, 4);
  Utf8Character character = decoded(next);
  if (character.size == 0 && next.size() < 4) {
    // What can be completed at all is completed by the least or by the largest of further bytes.
    const std::string rest(next);
    character.cut =
        decoded(rest + "\x80\x80\x80").size > 0 || decoded(rest + "\xBF\xBF\xBF").size > 0;
  }
  return character;
}

size_t first_wrong_byte(std::string_view text, size_t at) {
  for (size_t size = 1; at < text.size() && size > 0; at += size) {
    size = utf8_at(text, at).size;
  }
  return at;
}

std::string_view whole_characters(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    if (utf8_at(text, text.size() - back).cut) {
      return text.substr(0, text.size() - back);
    }
  }
  return text;
}

std::string composed(std::string_view text) {
  utf8proc_uint8_t* buffer = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &buffer,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(buffer, &std::free);
  return size < 0 ? std::string(text)
                  : std::string(reinterpret_cast<const char*>(buffer), static_cast<size_t>(size));
}

bool is_word_part(char32_t code) {
  // The categories in utf8proc's order: L from LU to LO, then M to ME, then N to NO.
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
}

bool is_space(char32_t code) {
  constexpr char32_t next_line = 0x85, mongolian_separator = 0x180E;  // of other categories
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  const bool separator = category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP;
  return separator || (code >= '\t' && code <= '\r') || code == next_line ||
         code == mongolian_separator;
}

void append_utf8(std::string& text, char32_t code) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
}

std::string to_utf8(char32_t code) {
  std::string text;
  append_utf8(text, code);
  return text;
}

}  // namespace heed
