// What is refused in JSON that other programs have written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

struct JsonLimits {
  int depth;                             // levels of brackets
  size_t entries = SIZE_MAX;             // keys of an object, elements of a list
  size_t values = SIZE_MAX;              // in all: a tree takes some 50 bytes for each
  size_t token_bytes = size_t{1} << 24;  // of a single string or number
  size_t blanks = size_t{1} << 20;       // in a row
};

// Throws IoError "where: ..." unless `text` is JSON within `limits` in which no object has a key
// twice: nothing says which of the two values would count, and most programs silently take the last
// one. Takes time and memory in proportion to the text. Builds nothing of it: an ordered object
// would search all its keys for each that it gets.
void require_strict_json(std::string_view text, const std::string& where, const JsonLimits& limits);

}  // namespace heed
