// What is refused in JSON that other programs have written.
#pragma once

#include <string>
#include <string_view>

namespace heed {

// Throws IoError "where: ..." unless `text` is JSON with at most `deepest` levels of brackets in
// which no object has a key twice: nothing says which of the two values would count, and most
// programs silently take the last one.
void require_strict_json(std::string_view text, const std::string& where, int deepest);

}  // namespace heed
