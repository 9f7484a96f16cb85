// What may follow --set: keys of a config, and values where there are few.
#pragma once

#include <string>
#include <vector>

#include "tools/extras/configs/candidates.h"

namespace heed::cli {

// typed: "model.d_m" or "model.type=g". The types of parts are those of the config, after the
// `sets` that come before; `config` may be "", or a file that cannot be read. Then the fields of
// all types are offered.
Candidates config_keys(const std::string& typed, const std::string& config,
                       const std::vector<std::string>& sets);

}  // namespace heed::cli
