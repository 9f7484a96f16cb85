// Checks on the text of a config before it is parsed, and readable messages for parser errors.
#pragma once

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

// Checks size, number of lines, UTF-8, control characters, directives, and nesting that could
// overflow the parser's recursion. Linear in the length of the text.
std::optional<TextProblem> find_text_problem(const std::string& text);

// The byte where line `line` (counted from 0) begins, or the end of the text.
size_t line_begin(const std::string& text, size_t line);

// True if the quote or bracket at this byte is closed somewhere, and for any other character.
// Brackets inside quotes and comments count too.
bool is_closed(const std::string& text, size_t begin);

// The likely cause of an error in line `line`, counted from 0: no space after the colon, = for a
// colon, or an indentation that no line above has.
std::optional<TextProblem> find_line_problem(const std::string& text, size_t line);

// The likely cause of an unexpected colon at byte `colon`: the key above has no colon or no value,
// or the indentation of the two lines differs.
std::optional<TextProblem> find_key_problem(const std::string& text, size_t colon);

// A syntax error of the parser, in words that need no knowledge of YAML's terms.
std::string syntax_words(const std::string& parser_message);

}  // namespace heed
