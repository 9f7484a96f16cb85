#include "autograd/ops/row_loops.h"

#include <functional>

#include "autograd/ops/concat.h"
#include "autograd/ops/gelu.h"
#include "autograd/ops/permute.h"
#include "autograd/ops/slice.h"
#include "autograd/ops/split.h"
#include "autograd/ops/sum.h"
#include "autograd/ops/tril.h"
#include "tests/support/near.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("row_loops: the bits of fast_map depend on the element alone, not on its place") {
  const Array x = values({20000}, -3, 3);
  const Array whole = fast_map(x, [](real v) { return fast_exp(v); });
  for (const int64_t begin : {0, 1, 7, 16383, 16384, 19990}) {
    const Array part = Array::from({10}, x.span().subspan(static_cast<size_t>(begin), 10));
    check_same_bits(fast_map(part, [](real v) { return fast_exp(v); }),
                    Array::from({10}, whole.span().subspan(static_cast<size_t>(begin), 10)));
  }
}

// Walked through row by row, they would take days.
TEST_CASE("row_loops: 2^50 rows of nothing return at once") {
  constexpr int64_t many = int64_t{1} << 50;
  const std::vector<std::function<Tensor(const Tensor&)>> operations{
      [](const Tensor& x) { return slice(x, -1, 0, 0); },
      [](const Tensor& x) { return slice(x, 0, 1, many); },
      [](const Tensor& x) { return tril(x); },
      [](const Tensor& x) { return triu(x, 1); },
      [](const Tensor& x) {
        return concat({x, x}, -1);
      },
      [](const Tensor& x) { return split(x, many / 2, 0)[1]; },
      [](const Tensor& x) { return sum(x, 0); },
      [](const Tensor& x) {
        return permute(x, {2, 0, 1});
      },
      [](const Tensor& x) { return gelu(x); }};
  for (size_t i = 0; i < operations.size(); ++i) {
    CAPTURE(i);
    Tensor x = Tensor::parameter(Array::zeros({many, 3, 0}));
    const Tensor y = operations[i](x);
    CHECK(y.size() == 0);
    y.backward(Array::zeros(y.shape()));
    CHECK(x.grad().shape() == x.shape());
  }
}
