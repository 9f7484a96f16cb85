#include "my_op.h"

#include <heed/testing.h>

using namespace heed;

namespace {

const std::vector<std::vector<Shape>> shapes{{{3, 4}, {3, 4}}, {{2, 3, 4}, {4}}, {{1, 4}, {3, 1}}};

}  // namespace

// Of the sample: replace the numbers by those of your operation.
TEST_CASE("my_op: numbers") {
  const Tensor y = mine::my_op(Array::from({3}, {1, -2, 3}), Array::from({3}, {0, 0, 100}));
  testing::check_near(y, Array::from({3}, {0.5, -1, 3}));
}

// Gradients (in float64), threads, inputs, NaN. Each failure says how to fix it.
TEST_CASE("my_op: everything that is expected of an operation") {
  for (const std::vector<Shape>& inputs : shapes) {
    testing::check_op(
        "my_op", [](const auto& in) { return mine::my_op(in[0], in[1]); }, inputs);
  }
}

// Delete it with my_op_composed if your operation has no such twin.
TEST_CASE("my_op: the same as its composed twin") {
  const Array a = Array::from({2, 2}, {1, -2, 3, 0.5}), b = Array::from({2}, {0.25, -1});
  testing::check_near(mine::my_op(a, b), mine::my_op_composed(a, b));
}

TEST_CASE("my_op: shapes that do not broadcast are refused") {
  const Array a = Array::zeros({2, 3}), b = Array::zeros({4});
  CHECK_THROWS_AS(static_cast<void>(mine::my_op(a, b)), ShapeError);
}

TEST_CASE("my_op_layer: everything that is expected of a layer") {
  testing::check_layer("{type: my_op_layer, d_in: 8, d_out: 6}", {{2, 5, 8}, {5, 8}});
}
