#pragma once
// The text of a config before and beside the parser: what must never reach it, and the words for
// what it refuses.
#include <cstdint>
#include <optional>
#include <string>

#include "layers/config/errors.h"

namespace heed {

inline constexpr size_t most_config_bytes = size_t{1} << 20;
inline constexpr size_t most_levels = 16;
inline constexpr size_t longest_key = 200;

struct TextProblem {
  int64_t line = 1;    // from 1
  int64_t column = 1;  // from 1, in characters
  std::string message;
};

// Size, number of lines, UTF-8, control characters, directives, and nesting so deep that the
// parser's recursion could matter. Linear in the text.
std::optional<TextProblem> find_text_problem(const std::string& text);

// The byte where line `line` (from 0) begins, or the end of the text.
size_t line_begin(const std::string& text, size_t line);

// Whether the quote or bracket at this byte is closed somewhere; true for any other character.
// Brackets inside quotes and comments count too.
bool is_closed(const std::string& text, size_t begin);

// What is likely to be wrong where the parser meets a colon that does not belong there: the key
// above has no colon or no value, or the two lines are not indented alike. `colon` is its byte.
std::optional<TextProblem> find_key_problem(const std::string& text, size_t colon);

// A syntax error of the parser, in words for people who do not know its terms.
std::string syntax_words(const std::string& parser_message);

}  // namespace heed
