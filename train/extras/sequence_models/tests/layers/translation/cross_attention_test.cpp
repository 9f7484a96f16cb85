#include "train/extras/sequence_models/layers/cross_attention.h"

#include "layers/multi_head_attention.h"
#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

Input with_context(const Shape& x, const Shape& context) {
  Input in{Tensor(values(x))};
  in.context = Tensor(values(context, -1, 1, 9));
  return in;
}

}  // namespace

TEST_CASE("cross_attention: to itself it is multi-head attention that is not causal") {
  const CrossAttention cross({12, 8, 4});
  MultiHeadAttention self({12, 8, 9, 4, 0, false, true, true, /*causal=*/false});
  copy_parameters(cross, self);
  Input in{Tensor(values({2, 7, 12}))};
  in.context = in.x;
  in.mask = Mask::full({2, 7}, 1);
  in.mask.mutable_data()[3] = 0;
  const Array y = const_cast<CrossAttention&>(cross)(in).value();
  CHECK(check_near(y, self(in).value()) == y.size());
}

TEST_CASE("cross_attention: a context of one token is given to every query") {
  CrossAttention layer({4, 6, 2});
  const Array y = layer(with_context({1, 3, 4}, {1, 1, 4})).value();
  CHECK(check_near(rows_between(y.reshaped({3, 6}), 0, 1), rows_between(y.reshaped({3, 6}), 2, 3)) >
        0);
}
