// When a step is followed by more, and how its errors name it.
#pragma once

#include <cstdint>
#include <optional>

#include "autograd/base/rethrow.h"

namespace heed {

inline bool due(const std::optional<int64_t>& every, int64_t step) {
  return every && step % *every == 0;
}

// Names the step in a DivergedError of f().
template <class F>
auto at_step(int64_t step, F&& f) {
  return with_place<DivergedError>(text("step ", step, ": "), f);
}

}  // namespace heed
