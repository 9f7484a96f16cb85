// Range checks of token ids. Operations call them before they use ids as row numbers.
#pragma once

#include "autograd/array/array.h"

namespace heed {

// Throws ShapeError unless every id is in [0, count) or is `ignored`. The message names the id, its
// position and the range: "embedding: expected ids from 0 to 49, got 50 at (1, 3)" and `hint`.
void check_ids(const char* op, const Ids& ids, int64_t count, const char* hint = "");
void check_ids_but(const char* op, const Ids& ids, int64_t count, int32_t ignored);

}  // namespace heed
