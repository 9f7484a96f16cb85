#include "autograd/graph/tensor.h"

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/sum.h"
#include "tests/support/near.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("tensor: constants and parameters") {
  const Tensor none;
  CHECK(!none);
  const Tensor number = real{3};
  CHECK(number.shape() == Shape{});
  CHECK(number.item() == 3);
  CHECK(!number.requires_grad());
  CHECK(!number.grad());
  const Tensor x = Tensor::parameter(values({2, 3}));
  CHECK(x.requires_grad());
  CHECK(x.node()->is_leaf());
  CHECK(x.rank() == 2);
  CHECK(x.dim(-1) == 3);
  CHECK(x.size() == 6);
}

TEST_CASE("tensor: copies share value and gradient") {
  const Tensor x = wanted(Array::from({2}, {1, 2}));
  const Tensor copy = x;
  (copy * 2).backward(Array::full({2}, 1));
  check_near(x.grad(), Array::full({2}, 2));
}

TEST_CASE("tensor: detach cuts the graph") {
  const Tensor x = wanted(Array::from({2}, {1, 2}));
  const Tensor y = x * x.detach();
  CHECK(!x.detach().requires_grad());
  y.backward(Array::full({2}, 1));
  check_near(x.grad(), Array::from({2}, {1, 2}));
}

TEST_CASE("tensor: backward refuses") {
  const Tensor x = wanted(values({2}));
  CHECK_THROWS_WITH_AS(
      (x * 2).backward(),
      "backward: expected a single number, got shape (2,); give a cotangent of that shape",
      ShapeError);
  CHECK_THROWS_WITH_AS((x * 2).backward(Array::zeros({3})),
                       "backward: expected a cotangent of shape (2,), got (3,)", ShapeError);
  const Tensor y = sum(x);
  CHECK_THROWS_WITH_AS(y.backward(Array()),
                       "backward: expected a cotangent of shape (), got no array", ShapeError);
  CHECK_THROWS_WITH_AS(Tensor(real{1}).backward(), "backward: nothing here requires a gradient",
                       GraphError);
}

TEST_CASE("tensor: item refuses more than one number") {
  CHECK_THROWS_WITH_AS(Tensor(values({2})).item(),
                       "item: expected a tensor of one element, got (2,)", ShapeError);
}

TEST_CASE("tensor: parameters change under NoGrad only") {
  Tensor x = wanted(values({2}));
  CHECK_THROWS_WITH_AS(x.mutable_value(),
                       "mutable_value: values that want a gradient change under NoGrad only",
                       GraphError);
  const NoGrad off;
  x.mutable_value()[1] = 8;
  CHECK(x.value().data()[1] == 8);
}

TEST_CASE("tensor: a gradient that is set has the tensor's shape, and the tensor wants one") {
  Tensor w = Tensor::parameter(Array::zeros({4, 2}));
  CHECK_THROWS_WITH_AS(w.set_grad(Array::zeros({4})),
                       "set_grad: expected a gradient of shape (4, 2), got (4,)", ShapeError);
  CHECK_THROWS_WITH_AS(w.set_grad(Array()),
                       "set_grad: expected a gradient of shape (4, 2), got no array", ShapeError);
  CHECK(!w.grad());
  w.set_grad(Array::full({4, 2}, 3));
  w.set_grad(Array::full({4, 2}, 1));  // replaces, does not add
  check_near(w.grad(), Array::full({4, 2}, 1));
  Tensor constant(Array::zeros({2})), none;
  CHECK_THROWS_AS(constant.set_grad(Array::zeros({2})), GraphError);
  Tensor inner = w * 2;  // its gradient would be added to that of the next pass
  CHECK_THROWS_WITH_AS(
      inner.set_grad(Array::zeros({4, 2})),
      "set_grad: expected a leaf, made by Tensor::parameter, got another tensor of "
      "shape (4, 2)",
      GraphError);
  CHECK_THROWS_AS(none.set_grad(Array::zeros({})), GraphError);
  none.zero_grad();
  CHECK(!none.grad());
}
