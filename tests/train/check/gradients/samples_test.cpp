#include "train/check/gradients/samples.h"

#include <set>

#include "tests/support/near.h"

using namespace heed;

namespace {

const std::vector<Shape> larger_than_512{
    {1024},         {1021},         {50257},        {64, 64},        {128, 128},
    {512, 512},     {3, 512, 7},    {2, 4, 16, 16}, {50257, 64},     {1, 600, 1},
    {2, 2, 2, 129}, {24, 1, 8, 33}, {513},          {2, 3, 5, 7, 11}};

// How many different values f takes on the elements.
template <class F>
int64_t different(const std::vector<int64_t>& elements, F f) {
  std::set<int64_t> seen;
  for (const int64_t i : elements) seen.insert(f(i));
  return static_cast<int64_t>(seen.size());
}

}  // namespace

TEST_CASE("samples: all elements of an array that is small enough") {
  CHECK(sampled_elements({2, 3}, 6) == std::vector<int64_t>{0, 1, 2, 3, 4, 5});
  CHECK(sampled_elements({2, 3}, 512).size() == 6);
  CHECK(sampled_elements({}, 512) == std::vector<int64_t>{0});
  CHECK(sampled_elements({0, 3}, 512).empty());
  CHECK(sampled_elements({2, 3}, 0).empty());
}

TEST_CASE("samples: as many as asked for, different, ascending, with both ends") {
  for (const Shape& shape : larger_than_512) {
    for (const int64_t count : {2, 3, 10, 512}) {
      CAPTURE(text(shape, ", ", count));
      const std::vector<int64_t> elements = sampled_elements(shape, count);
      CHECK(static_cast<int64_t>(elements.size()) == count);
      CHECK(std::is_sorted(elements.begin(), elements.end(), std::less_equal<>()));
      CHECK(elements.front() == 0);
      CHECK(elements.back() == shape.size() - 1);
    }
  }
  for (int64_t count = 1; count < 60; ++count) {
    CHECK(static_cast<int64_t>(sampled_elements({3, 4, 5}, count).size()) == count);
  }
}

TEST_CASE("samples: every row and column, along every axis") {
  for (const Shape& shape : larger_than_512) {
    CAPTURE(text(shape));
    const std::vector<int64_t> elements = sampled_elements(shape, 512);
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const int64_t inner = shape.size_between(axis + 1, shape.rank());
      const auto index = [&](int64_t i) { return i / inner % shape[axis]; };
      CHECK(different(elements, index) >= std::min<int64_t>(shape[axis], 512));
    }
  }
}

TEST_CASE("samples: every residue class") {
  for (const Shape& shape : larger_than_512) {
    const std::vector<int64_t> elements = sampled_elements(shape, 512);
    for (int64_t modulus = 2; modulus <= 32; ++modulus) {
      CAPTURE(text(shape, " modulo ", modulus));
      CHECK(different(elements, [&](int64_t i) { return i % modulus; }) == modulus);
    }
  }
}

TEST_CASE("samples: no pairs of rows and columns are favoured") {
  // Of 64 blocks of 8 rows and 8 columns, each gets 8 of 512 elements in the mean.
  const std::vector<int64_t> elements = sampled_elements({64, 64}, 512);
  CHECK(different(elements, [](int64_t i) { return i / 64 / 8 * 8 + i % 64 / 8; }) == 64);
  // The diagonals of a matrix: row - column modulo 512.
  CHECK(different(sampled_elements({512, 512}, 512),
                  [](int64_t i) { return (i / 512 - i % 512 + 512) % 512; }) > 250);
}
