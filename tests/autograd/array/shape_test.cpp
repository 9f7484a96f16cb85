#include "autograd/array/shape.h"

#include <doctest/doctest.h>

using namespace heed;

TEST_CASE("shape: prints as PyTorch does") {
  CHECK(text(Shape{}) == "()");
  CHECK(text(Shape{4}) == "(4,)");
  CHECK(text(Shape{2, 3}) == "(2, 3)");
  CHECK(text(Shape{0, 1, 2}) == "(0, 1, 2)");
}

TEST_CASE("shape: extents") {
  const Shape s = {2, 3, 4};
  CHECK(s.rank() == 3);
  CHECK(s.size() == 24);
  CHECK(s[0] == 2);
  CHECK(s[-1] == 4);
  CHECK(s.index_of(-3) == 0);
  CHECK(Shape{}.size() == 1);
  CHECK(Shape{3, 0}.size() == 0);
  CHECK(s.size_between(0, 2) == 6);
  CHECK(s.size_between(3, 3) == 1);
  CHECK(rows_of(s).count == 6);
  CHECK(rows_of(s).width == 4);
  CHECK(rows_of({5}).count == 1);
}

TEST_CASE("shape: equality looks at the rank too") {
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK(Shape{2, 3} != Shape{3, 2});
  CHECK(Shape{} != Shape{0});
  CHECK(Shape{2} != Shape{2, 1});
}

TEST_CASE("shape: changed in one axis") {
  CHECK(Shape{2, 3}.with(-1, 7) == Shape{2, 7});
  CHECK(Shape{2, 3, 4}.without(1) == Shape{2, 4});
  CHECK(Shape{2}.without(0) == Shape{});
  CHECK(Shape{2, 3}.inserted(0, 5) == Shape{5, 2, 3});
  CHECK(Shape{2, 3}.inserted(2, 5) == Shape{2, 3, 5});
  CHECK(Shape{}.inserted(0, 5) == Shape{5});
}

TEST_CASE("shape: broadcasting") {
  CHECK(broadcast("op", {2, 3}, {3}) == Shape{2, 3});
  CHECK(broadcast("op", {2, 1}, {1, 3}) == Shape{2, 3});
  CHECK(broadcast("op", {}, {2}) == Shape{2});
  CHECK(broadcast("op", {1}, {0}) == Shape{0});
  CHECK(broadcast("op", {4, 1, 3}, {2, 1}) == Shape{4, 2, 3});
}

TEST_CASE("shape: refuses") {
  CHECK_THROWS_WITH_AS((Shape{2, 3}[2]), "shape: expected an axis from -2 to 1 of (2, 3), got 2",
                       ShapeError);
  CHECK_THROWS_WITH_AS((Shape{2, -1}), "shape: expected extents >= 0, got -1 on axis 1",
                       ShapeError);
  CHECK_THROWS_WITH_AS((Shape{1, 1, 1, 1, 1, 1, 1}), "shape: expected at most 6 axes, got 7",
                       ShapeError);
  CHECK_THROWS_WITH_AS((Shape{int64_t{1} << 40, int64_t{1} << 40}),
                       "shape: more elements than a 64-bit count can hold", ShapeError);
  // Nothing, but any axes together must have a number of elements.
  CHECK_THROWS_WITH_AS((Shape{0, int64_t{1} << 40, int64_t{1} << 40}),
                       "shape: more elements than a 64-bit count can hold", ShapeError);
  CHECK(Shape{int64_t{1} << 50, 0, 4}.size() == 0);
  // The number of elements fits into 64 bits, the number of bytes does not.
  CHECK_THROWS_WITH_AS((Shape{3'000'000'000, 3'000'000'000}),
                       "shape: more elements than a 64-bit count can hold", ShapeError);
  CHECK_THROWS_WITH_AS(broadcast("add", {2, 3}, {4}),
                       "add: shapes (2, 3) and (4,) do not broadcast: axis -1 is 3 and 4",
                       ShapeError);
  CHECK_THROWS_AS((Shape{1, 1, 1, 1, 1, 1}.inserted(0, 1)), ShapeError);
}
