// How long a prompt may be.
#pragma once

#include <cstdint>

#include "autograd/base/error.h"

namespace heed {

// Throws ConfigError unless a prompt has 1 to `most` tokens. unit: "word".
inline void require_length(size_t tokens, int64_t most, const char* unit, const char* why = "") {
  require<ConfigError>(tokens >= 1 && tokens <= static_cast<size_t>(most), "expected 1 to ", most,
                       " ", unit, "s", why, ", got ", tokens);
}

}  // namespace heed
