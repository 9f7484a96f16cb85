// What is refused in JSON that other programs have written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "autograd/base/error.h"

namespace heed {

struct JsonLimits {
  int depth;                             // levels of brackets
  size_t entries = SIZE_MAX;             // keys of an object, elements of a list
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

// A member of an object and the kind of its value: "a text", "a number", "a boolean", "null", "an
// array" or "an object".
struct JsonMember {
  std::string key;
  std::string kind = {};
  std::string text = {};  // a number as it is written
};

// Throws JsonError "where: ..." unless `text` is JSON within `limits` in which no object has a key
// twice: nothing says which of the two values would count, and most programs silently take the last
// one. Takes time and memory in proportion to the text. Builds no tree of it: an ordered object
// would search all its keys for each that it gets. `members` gets those of the object that the text
// is.
void require_strict_json(std::string_view text, const std::string& where, const JsonLimits& limits,
                         std::vector<JsonMember>* members = nullptr);

}  // namespace heed
