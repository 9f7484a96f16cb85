#include "autograd/ops/tril.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases tril_cases("tril", [](GradCaseList& list) {
  for (const Shape& s : {Shape{3, 3}, Shape{2, 5}, Shape{5, 2}, Shape{2, 3, 4}}) {
    for (const int64_t k : {-1, 0, 1}) {
      list.add(text("tril ", s, " k ", k), [k](In in) { return tril(in[0], k); },
               {wanted(values(s))});
      list.add(text("triu ", s, " k ", k), [k](In in) { return triu(in[0], k); },
               {wanted(values(s))});
    }
  }
});

TEST_CASE("tril: values") {
  const Tensor x = Array::from({2, 3}, {1, 2, 3, 4, 5, 6});
  check_values(tril(x), {2, 3}, {1, 0, 0, 4, 5, 0});
  check_values(tril(x, 1), {2, 3}, {1, 2, 0, 4, 5, 6});
  check_values(tril(x, -1), {2, 3}, {0, 0, 0, 4, 0, 0});
  check_values(tril(x, -9), {2, 3}, {0, 0, 0, 0, 0, 0});
  check_values(tril(x, 9), {2, 3}, {1, 2, 3, 4, 5, 6});
  check_values(triu(x), {2, 3}, {1, 2, 3, 0, 5, 6});
  check_values(triu(x, 1), {2, 3}, {0, 2, 3, 0, 0, 6});
  check_values(triu(x, -1), {2, 3}, {1, 2, 3, 4, 5, 6});
  check_values(triu(x, std::numeric_limits<int64_t>::max()), {2, 3}, {0, 0, 0, 0, 0, 0});
  check_values(tril(x, std::numeric_limits<int64_t>::min()), {2, 3}, {0, 0, 0, 0, 0, 0});
  CHECK(tril(Array::zeros({0, 3})).shape() == Shape{0, 3});
}

TEST_CASE("tril: what is cut off may be infinite") {
  check_values(tril(Array::from({2, 2}, {1, inf, 2, 3})), {2, 2}, {1, 0, 2, 3});
}
