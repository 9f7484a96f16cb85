#include "autograd/array/reduce.h"

#include "tests/support/near.h"

using namespace heed;
using namespace heed::testing;

namespace {

// The sum over the middle axis of (outer, n, inner): in double, in the order of the elements.
Array naive(const Array& x, const Shape& out, int64_t outer, int64_t n, int64_t inner) {
  Array y = Array::uninitialised(out);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t j = 0; j < inner; ++j) {
      double total = 0;
      for (int64_t i = 0; i < n; ++i)
        total += static_cast<double>(x.data()[(o * n + i) * inner + j]);
      y.mutable_data()[o * inner + j] = static_cast<real>(total);
    }
  }
  return y;
}

}  // namespace

TEST_CASE("reduce: sum_axis over odd sizes") {
  int64_t compared = 0;
  for (const int64_t n : odd_sizes) {
    const Array x = values({3, n, 5});
    compared += check_near(sum_axis(x, 0), naive(x, {1, n, 5}, 1, 3, n * 5));
    compared += check_near(sum_axis(x, 1), naive(x, {3, 1, 5}, 3, n, 5));
    compared += check_near(sum_axis(x, -1), naive(x, {3, n, 1}, 3 * n, 5, 1));
  }
  CHECK(compared == 384 * 8 + 10 * 15);
  check_near(sum_axis(Array::zeros({2, 0}), 1), Array::zeros({2, 1}));
  check_near(sum_axis(Array::zeros({0, 2}), 0), Array::zeros({1, 2}));
}

TEST_CASE("reduce: sum_to undoes broadcasting") {
  const Array x = values({2, 3, 4});
  check_near(sum_to(x, {2, 3, 4}), x, 0);
  check_near(sum_to(x, {4}), naive(x, {4}, 1, 6, 4));
  check_near(sum_to(x, {3, 4}), naive(x, {3, 4}, 1, 2, 12));
  check_near(sum_to(x, {2, 1, 4}), naive(x, {2, 1, 4}, 2, 3, 4));
  check_near(sum_to(x, {}), Array::full({}, static_cast<real>(sum_all(x))));
  check_near(sum_to(x, {1, 1, 1}), Array::full({1, 1, 1}, static_cast<real>(sum_all(x))));
  CHECK_THROWS_WITH_AS(sum_to(x, {3, 2}),
                       "gradient: a value of shape (3, 2) cannot have been broadcast to (2, 3, 4)",
                       ShapeError);
}

TEST_CASE("reduce: sum_all") {
  CHECK(sum_all(Array::full({100003}, 1)) == 100003);
  CHECK(sum_all(Array::zeros({0})) == 0);
  CHECK(sum_all(Array::full({}, 4)) == 4);
  // a float accumulator would lose the ones next to 1e8
  CHECK(sum_all(Array::from({4}, {1e8, 1, 1, -1e8})) == 2);
}

TEST_CASE("reduce: all_finite") {
  CHECK(all_finite(Array::zeros({0})));
  for (const int64_t n : odd_sizes) {
    for (const real bad : {inf, -inf, not_a_number}) {
      Array a = values({n});
      CHECK(all_finite(a));
      a.mutable_data()[n - 1] = bad;
      CHECK(!all_finite(a));
    }
  }
}

TEST_CASE("reduce: difference, in bits or beyond a tolerance") {
  const Array a = Array::from({4}, {0, 1, inf, not_a_number});
  CHECK(difference(a, a) == "");
  CHECK(difference(a, a.reshaped({2, 2})) == "shapes (4,) and (2, 2)");
  const Array b = Array::from({4}, {-0.0, 3, inf, -not_a_number});
  CHECK(difference(a, b) == "element 0 of (4,): 0 and -0");
  CHECK(difference(a, b, 0.5) == "element 1 of (4,): 1 and 3");
  CHECK(difference(a, b, 0.7) == "");
  CHECK(difference(Array::from({2}, {0, inf}), Array::from({2}, {0, -inf}), 9) ==
        "element 1 of (2,): inf and -inf");
}
