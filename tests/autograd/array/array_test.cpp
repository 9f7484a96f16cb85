#include "autograd/array/array.h"

#include <utility>

#include "tests/support/near.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("array: makers") {
  CHECK(check_near(Array::zeros({2, 2}), Array::from({2, 2}, {0, 0, 0, 0})) == 4);
  CHECK(check_near(Array::full({3}, 7), Array::from({3}, {7, 7, 7})) == 3);
  CHECK(Array::full({}, 5).data()[0] == 5);
  CHECK(Array::zeros({0, 3}).size() == 0);
  CHECK(!Array());
  CHECK(Array::zeros({0}));
}

TEST_CASE("array: buffers are aligned to 64 bytes") {
  for (const int64_t n : odd_sizes) {
    CHECK(reinterpret_cast<uintptr_t>(Array::zeros({n}).data()) % 64 == 0);
  }
}

TEST_CASE("array: refuses another number of values") {
  const std::vector<real> three = {1, 2, 3};
  CHECK_THROWS_WITH_AS(Array::from({2}, std::span(three)),
                       "array: expected 2 values for shape (2,), got 3", ShapeError);
}

TEST_CASE("array: copies and other shapes share the buffer, clones do not") {
  Array a = Array::from({4}, {1, 2, 3, 4});
  CHECK(a.unique());
  const Array b = a.reshaped({2, 2});
  CHECK(!a.unique());
  CHECK(b.data() == a.data());
  const Array c = a.clone();
  CHECK(c.data() != a.data());
  a.mutable_data()[0] = 9;
  CHECK(b.current().data()[0] == 9);
  CHECK(c.data()[0] == 1);
  CHECK_THROWS_WITH_AS(a.reshaped({3}), "reshape: expected 4 elements as in (4,), got (3,)",
                       ShapeError);
}

TEST_CASE("array: an old handle refuses to read a rewritten value") {
  Array a = Array::from({2}, {1, 2});
  a.mutable_data()[0] = 3;  // nobody else can see it yet
  const Array saved = a;
  CHECK(saved.data()[0] == 3);
  a.mutable_data()[0] = 5;
  CHECK(a.data()[0] == 5);
  CHECK(saved.current().data()[0] == 5);
  CHECK_THROWS_WITH_AS(static_cast<void>(saved.data()),
                       "a saved value of shape (2,) was changed after it was used: version 0 was "
                       "saved, the value is now at version 1",
                       GraphError);
}

TEST_CASE(
    "array: one without elements, made by default or moved from, is neither read nor written") {
  Array none, full = Array::zeros({2});
  const Array moved = std::move(full);
  CHECK(moved.data()[0] == 0);
  for (Array* const empty : {&none, &full}) {
    const char* const message = "expected elements, got an empty array";
    CHECK_THROWS_WITH_AS(static_cast<void>(std::as_const(*empty).data()), message, GraphError);
    CHECK_THROWS_WITH_AS(empty->mutable_data(), message, GraphError);
    CHECK_THROWS_WITH_AS(static_cast<void>(empty->clone()), message, GraphError);
  }
}
