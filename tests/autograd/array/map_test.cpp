#include "autograd/array/map.h"

#include "tests/support/near.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("map: map and zip over odd sizes") {
  int64_t compared = 0;
  for (const int64_t n : odd_sizes) {
    const Array a = values({n}), b = values({n}, -2, 2, 2);
    const Array doubled = map(a, [](real v) { return 2 * v; });
    const Array total = zip("test", a, b, [](real u, real v) { return u + v; });
    for (int64_t i = 0; i < n; ++i) {
      REQUIRE(doubled.data()[i] == 2 * a.data()[i]);
      REQUIRE(total.data()[i] == a.data()[i] + b.data()[i]);
      ++compared;
    }
  }
  CHECK(compared == 384);
}

TEST_CASE("map: zip broadcasts") {
  const auto minus = [](real u, real v) { return u - v; };
  const Array a = Array::from({2, 1, 2}, {1, 2, 3, 4}), b = Array::from({3, 1}, {10, 20, 30});
  const Array y = zip("test", a, b, minus);
  CHECK(check_near(y, Array::from({2, 3, 2},
                                  {-9, -8, -19, -18, -29, -28, -7, -6, -17, -16, -27, -26})) == 12);
  check_near(zip("test", Array::full({}, 1), Array::full({}, 3), minus), Array::full({}, -2));
  CHECK(zip("test", Array::zeros({0, 2}), Array::zeros({2}), minus).shape() == Shape{0, 2});
}

TEST_CASE("map: six axes") {
  const Array a = values({2, 1, 2, 1, 2, 3}), b = values({1, 2, 2, 2, 1, 1});
  const Array y = zip("test", a, b, [](real u, real v) { return u * v; });
  REQUIRE(y.shape() == Shape{2, 2, 2, 2, 2, 3});
  for (int64_t i = 0; i < y.size(); ++i) {
    const int64_t f = i % 3, e = i / 3 % 2, d = i / 6 % 2, c = i / 12 % 2, j = i / 24 % 2,
                  k = i / 48;
    REQUIRE(y.data()[i] == a.data()[((k * 2 + c) * 2 + e) * 3 + f] * b.data()[(j * 2 + c) * 2 + d]);
  }
}
