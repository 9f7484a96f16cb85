// JSON lines: an object each line, with the cells of a record under its keys.
#pragma once

#include <set>
#include <span>

#include "tools/extras/own_data/train/columns.h"

namespace heed {

// The cells of one object. Returns "" or what is wrong with it. `unused`: gets the other keys,
// but those of null.
std::string read_json_object(std::string_view text, std::span<const RowColumn> columns,
                             std::vector<std::string>& cells,
                             std::set<std::string>* unused = nullptr);

}  // namespace heed
