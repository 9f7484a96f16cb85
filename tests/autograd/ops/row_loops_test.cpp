#include "autograd/ops/row_loops.h"

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
