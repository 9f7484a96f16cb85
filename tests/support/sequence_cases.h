// What tests of layers of sequences have in common: parts after one another, a padded source.
#pragma once

#include <vector>

#include "autograd/ops/slice.h"
#include "layers/module/cache.h"
#include "tests/support/layer_cases.h"

namespace heed::testing {

// Checks that the tokens of x (..., T, d) between these cuts, one part after the other with a
// cache, give what all of them give at once.
inline void check_parts(Module& layer, const Tensor& x, const std::vector<int64_t>& cuts) {
  const NoGrad off;
  const int axis = x.rank() - 2;
  const Tensor all = layer(x);
  Cache cache(x.dim(axis));
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    Input in(slice(x, axis, cuts[i], cuts[i + 1]));
    in.cache = &cache;
    check_near(layer(in), slice(all, axis, cuts[i], cuts[i + 1]).value());
    cache.advance(cuts[i + 1] - cuts[i]);
  }
  CHECK(cache.length() == x.dim(axis));
}

// Two sentences of 5 tokens below 7; their sources have 4 tokens below 9, of which the second
// one's last two are padding.
inline Input padded_sentences() {
  Input in{ids({2, 5}, {0, 1, 2, 3, 4, 5, 6, 0, 1, 2})};
  in.source_ids = ids({2, 4}, {8, 7, 6, 5, 4, 3, 0, 0});
  in.source_mask = mask_of({2, 4}, {1, 1, 1, 1, 1, 1, 0, 0});
  return in;
}

}  // namespace heed::testing
