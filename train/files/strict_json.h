// What is refused in JSON that other programs have written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

// Throws IoError "where: ..." unless `text` is JSON with at most `deepest` levels of brackets, each
// of at most `most` keys or elements, in which no object has a key twice: nothing says which of the
// two values would count, and most programs silently take the last one. Builds nothing of the text:
// an ordered object would search all its keys for each that it gets.
void require_strict_json(std::string_view text, const std::string& where, int deepest,
                         size_t most = SIZE_MAX);

}  // namespace heed
