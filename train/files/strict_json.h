// What is refused in JSON that other programs have written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "autograd/base/error.h"

namespace heed {

struct JsonLimits {
  int depth;                             // levels of brackets
  size_t entries = SIZE_MAX;             // keys of an object, elements of a list
  size_t keys = SIZE_MAX;                // of an object
  size_t values = SIZE_MAX;              // in all: a tree takes some 50 bytes for each
  size_t token_bytes = size_t{1} << 24;  // of a single string or number
  size_t blanks = size_t{1} << 20;       // in a row
};

class JsonError : public IoError {
 public:
  explicit JsonError(const std::string& message, size_t at = 0, std::string twice = "")
      : IoError(message), byte(at), key(std::move(twice)) {}
  const size_t byte;      // of a mistake in the syntax, from 1; 0: it is another one
  const std::string key;  // that an object has twice
};

// The tree of `text`, of nlohmann::json or ordered_json. Throws JsonError "where: ..." unless it is
// JSON within `limits` in which no object has a key twice: nothing says which of the two values
// would count, and most programs silently take the last one. Takes time and memory in proportion to
// the text, but for an ordered object, which searches all its keys for each that it gets.
template <class Json>
Json parse_strict_json(std::string_view text, const std::string& where, const JsonLimits& limits);

}  // namespace heed
