// Text that fits the terminal, and its colours.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace heed {

// The columns of the terminal behind a descriptor, such as STDOUT_FILENO. None for a file or a
// pipe, whose lines may have any width, and for a terminal that does not tell.
std::optional<size_t> terminal_width(int descriptor);

// `text` with every line of more than `width` columns broken between words. The rest of such a line
// is indented as far as its last column, if that is in the first half: "memory     about 87 MB" has
// a column after two or more blanks. A word wider than the terminal stays whole, for copying.
std::string fitted(std::string_view text, std::optional<size_t> width);

// True for a terminal that shows colours, unless NO_COLOR is set (no-color.org).
bool has_color(int descriptor);

// `text` in a style of terminals, "1" bold, "31" red, where the descriptor has colours; "": none.
std::string styled(const std::string& text, const char* style, int descriptor);

}  // namespace heed
