// Pages without network: their files, which the build embeds in the program, and how data is put
// into them.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

struct Asset {
  std::string_view name;  // "report/page", as the extra's extra.cmake calls it
  std::string_view text;
};

// All of this build, written by write_assets.cmake.
const std::vector<Asset>& assets();
// The text of one. Throws Error if there is none of this name.
std::string_view asset(std::string_view name);

// Escapes JSON for a script element: the only characters that could end the element or start a
// comment in it become \u escapes, which JSON parsers read as the same characters.
std::string within_script(const std::string& json);

// A template with each {{place}} filled in; the places are in its order. A page about a float64 run
// begins with note_on_precision() (tools/command.h).
using PageParts = std::initializer_list<std::pair<std::string_view, std::string_view>>;
std::string filled(std::string_view page, PageParts parts);

}  // namespace heed
