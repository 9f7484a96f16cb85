#include <heed/autograd/ops/arithmetic.h>
#include <heed/testing.h>

#include "squared_difference.h"
#include "swiglu.h"

using namespace heed;

TEST_CASE("squared_difference: numbers, gradients with broadcasting, threads") {
  const Tensor a = Array::from({2, 2}, {1, 2, 3, 4}), b = Array::from({2}, {1, -1});
  testing::check_near(extension::squared_difference(a, b), Array::from({2, 2}, {0, 9, 4, 25}));
  for (const auto& shapes : std::vector<std::vector<Shape>>{
           {{3, 4}, {3, 4}}, {{2, 3, 4}, {4}}, {{1, 4}, {3, 1}}, {{}, {2, 2}}}) {
    testing::check_op(
        "squared_difference",
        [](const auto& in) { return extension::squared_difference(in[0], in[1]); }, shapes);
  }
  CHECK_THROWS_AS(
      static_cast<void>(extension::squared_difference(Array::zeros({2, 3}), Array::zeros({4}))),
      ShapeError);
}

TEST_CASE("swiglu: gradients, threads, the same as its composed twin") {
  const Tensor gate = Array::from({4}, {-2, -0.5, 0.25, 4}),
               value = Array::from({4}, {1, -2, 3, 4});
  testing::check_near(extension::swiglu(gate, value), extension::swiglu_composed(gate, value));
  for (const Shape& shape : {Shape{5}, Shape{2, 3, 4}}) {
    testing::check_op("swiglu", [](const auto& in) { return extension::swiglu(in[0], in[1]); },
                      {shape, shape});
    testing::check_op("swiglu_composed",
                      [](const auto& in) { return extension::swiglu_composed(in[0], in[1]); },
                      {shape, shape});
  }
}
