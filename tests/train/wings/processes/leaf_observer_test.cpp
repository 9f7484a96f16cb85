// Gradients that are complete before the backward pass is.
#include "train/wings/processes/leaf_observer.h"

#include <doctest/doctest.h>

#include "autograd/op.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/sum.h"
#include "tests/support/near.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("leaf observer: each leaf once, with its whole gradient, the last used first") {
  const Tensor a = Tensor::parameter(Array::from({2}, {2, 3}));
  const Tensor b = Tensor::parameter(Array::from({2}, {5, 7}));
  const Tensor c = Tensor::parameter(Array::from({2}, {1, 1}));
  const Tensor unused = Tensor::parameter(Array::from({2}, {1, 1}));
  const auto loss = [&] {
    const Tensor first = a * b;  // both are used again
    return sum((first + c) * b + first * a);
  };
  loss().backward();
  const std::vector<Array> expected{a.grad().clone(), b.grad().clone(), c.grad().clone()};
  for (Tensor leaf : {a, b, c}) leaf.zero_grad();

  std::vector<const Node*> order;
  std::vector<Array> taken;
  {
    const LeafObserver observer([&](Node& leaf) {
      order.push_back(&leaf);
      taken.push_back(std::exchange(leaf.gradient, Array()));
    });
    loss().backward();
  }
  REQUIRE(order.size() == 3);
  CHECK(order[0] == c.node().get());
  for (size_t k = 0; k < 3; ++k) {
    const size_t which = order[k] == a.node().get() ? 0 : order[k] == b.node().get() ? 1 : 2;
    check_same_bits(taken[k], expected[which]);
  }
  for (const Tensor& leaf : {a, b, c, unused}) CHECK(!leaf.grad());
  loss().backward();  // nobody observes any more
  CHECK(order.size() == 3);
}
