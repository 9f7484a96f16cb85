// Text from outside (names, paths, values of a config) inside messages, plans, logs and tables.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed {

// No character of a message may steer the terminal or reorder its line. These are escaped, as \x1b
// or \u202e: the controls U+0000 to U+001F and U+007F to U+009F, the marks of direction U+061C,
// U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069, and bytes that are no UTF-8.

// Text for one line of a message. A newline becomes \n. Cut after `limit` bytes.
std::string printable(std::string_view text, size_t limit = 60);

// A whole message, which may have several lines: the controls in `kept` stay.
std::string printable_lines(std::string_view text, std::string_view kept = "\n");

}  // namespace heed
