// Text from outside (names, paths, values of a config) inside messages, plans, logs and tables.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed {

// No character of a message may steer the terminal, reorder its line or be invisible. These are
// escaped, as \x1b or \u202e: the controls U+0000 to U+001F and U+007F to U+009F, marks of
// direction, separators of lines (U+2028), characters without width or ink (U+200B, U+FEFF), and
// bytes that are no UTF-8. What joins or varies visible characters (U+200C, U+200D, U+FE0F) stays.

// Text for one line of a message. A newline becomes \n. Cut after `limit` bytes.
std::string printable(std::string_view text, size_t limit = 60);

// A whole message, which may have several lines: the controls in `kept` stay.
std::string printable_lines(std::string_view text, std::string_view kept = "\n");

}  // namespace heed
