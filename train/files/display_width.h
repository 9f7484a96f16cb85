// The columns that text takes on a terminal: two for wide characters (Chinese, Japanese, Korean,
// emoji), none for combining marks.
#pragma once

#include <cstddef>
#include <string_view>

namespace heed {

// 0, 1 or 2. Does not depend on the locale. Characters whose width is ambiguous take one column.
size_t display_width(char32_t code);

// The sum over the characters of UTF-8 text; an invalid byte takes one column.
size_t display_width(std::string_view text);

}  // namespace heed
