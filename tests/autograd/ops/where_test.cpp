#include "autograd/ops/where.h"

#include "autograd/ops/arithmetic.h"
#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases where_cases("where", [](GradCaseList& list) {
  struct Shapes {
    Shape mask, a, b;
  };
  for (const Shapes& s : {Shapes{{}, {}, {}}, Shapes{{7}, {7}, {7}}, Shapes{{2, 3}, {2, 3}, {3}},
                          Shapes{{2, 3}, {}, {2, 3}}, Shapes{{3}, {2, 1}, {2, 3}},
                          Shapes{{2, 1}, {3}, {}}, Shapes{{33}, {33}, {33}}}) {
    list.add(text(s.mask, " ", s.a, " ", s.b),
             [s](In in) { return where(every_third(s.mask), in[0], in[1]); },
             {wanted(values(s.a)), wanted(values(s.b, -2, 2, 2))});
  }
});

TEST_CASE("where: values") {
  const Tensor a = Array::from({2}, {1, 2}), b = Array::from({2}, {3, 4});
  check_values(where(mask_of({2}, {1, 0}), a, b), {2}, {1, 4});
  check_values(where(mask_of({2, 1}, {1, 0}), a, b), {2, 2}, {1, 2, 3, 4});
  check_values(where(mask_of({2}, {1, 0}), a, real{0}), {2}, {1, 0});
}

TEST_CASE("where: what is not chosen does no harm") {
  const real nan = std::numeric_limits<real>::quiet_NaN();
  const Tensor a = wanted(Array::from({2}, {nan, 2})), b = wanted(Array::from({2}, {3, nan}));
  const Tensor y = where(mask_of({2}, {0, 1}), a, b);
  check_values(y, {2}, {3, 2});
  y.backward(Array::from({2}, {5, 7}));
  check_near(a.grad(), Array::from({2}, {0, 7}));
  check_near(b.grad(), Array::from({2}, {5, 0}));
}
