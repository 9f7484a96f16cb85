// What characters look like on a terminal: which are escaped, and how many columns they take.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed {

// Text from outside (names, paths, values of a config) inside messages, plans, logs and tables: no
// character may steer the terminal, reorder its line or be invisible. These are escaped, as \x1b or
// \u202e: controls, marks of direction, separators of lines (U+2028), characters without width or
// ink (U+200B, U+FEFF), and bytes that are no UTF-8. What joins or varies visible characters
// (U+200C, U+200D, U+FE0F) stays.
bool steers_or_hides(char32_t code);

// Text for one line of a message. A newline becomes \n. Cut after `limit` bytes.
std::string printable(std::string_view text, size_t limit = 60);

// A whole message, which may have several lines: the controls in `kept` stay.
std::string printable_lines(std::string_view text, std::string_view kept = "\n");

// A visible form of a single character: "\n" for a newline, "␣" for a blank, "U+00AD" for what has
// no glyph of its own, as a blank or a combining mark.
std::string visible(char32_t code);

// The columns that a character takes: two if it is wide (Chinese, Japanese, Korean, emoji), none if
// it combines with the one before. Does not depend on the locale; an ambiguous width is one.
size_t display_width(char32_t code);

// The sum over the characters of UTF-8 text; an invalid byte takes one column.
size_t display_width(std::string_view text);

}  // namespace heed
