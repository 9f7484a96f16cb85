// What layers of sequences have in common: parts after one another, threads, padding of a source.
#pragma once

#include <string>
#include <vector>

#include "autograd/ops/slice.h"
#include "autograd/threads/parallel.h"
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

// Checks that outputs and gradients have the same bits for 1, 2, 3 and 8 threads. Returns how many
// tensors that are.
inline int64_t check_layer_threads(const std::string& yaml, const Tensor& x) {
  const int before = num_threads();
  const auto layer = layer_of(yaml);
  set_num_threads(1);
  const Results alone = run(*layer, x);
  for (const int threads : {2, 3, 8}) {
    set_num_threads(threads);
    CHECK(check_same_bits(run(*layer, x), alone) == static_cast<int64_t>(alone.size()));
  }
  set_num_threads(before);
  return static_cast<int64_t>(alone.size());
}

// Two sentences of 5 tokens below 7; their sources have 4 tokens below 9, of which the second
// one's last two are padding.
inline Input padded_sentences() {
  Input in{ids({2, 5}, {0, 1, 2, 3, 4, 5, 6, 0, 1, 2})};
  in.source_ids = ids({2, 4}, {8, 7, 6, 5, 4, 3, 0, 0});
  in.source_mask = mask_of({2, 4}, {1, 1, 1, 1, 1, 1, 0, 0});
  return in;
}

// Checks that padding of the source changes no bit, whatever stands there, and that a sentence with
// a shorter source gives what it gives alone.
inline void check_source_padding(Module& layer) {
  layer.train(false);
  const Input in = padded_sentences();
  const Array y = layer(in).value();
  REQUIRE(y.shape() == Shape{2, 5, 7});
  Input other = in;
  other.source_ids = ids({2, 4}, {8, 7, 6, 5, 4, 3, 8, 5});
  check_same_bits(layer(other).value(), y);
  Input alone{ids({5}, {5, 6, 0, 1, 2})};
  alone.source_ids = ids({2}, {4, 3});
  CHECK(check_near(layer(alone).value(), Array::from({5, 7}, y.span().subspan(35))) == 35);
}

}  // namespace heed::testing
