// Quantities of a forward pass by name, to see them, to move one of them, or to keep its gradient.
#pragma once

#include <functional>
#include <string>

#include "autograd/graph/tensor.h"

namespace heed::tour {

// Sees each quantity of a forward pass under its name, and may put another in its place.
using AtEach = std::function<Tensor(const std::string& name, const Tensor& x)>;

// x itself. A backward pass leaves d(loss)/dx in `gradient`, as retain_grad does in PyTorch.
inline Tensor retained(const Tensor& x, Array& gradient) {
  return record("retained", x.value(), {x}, [&gradient](const Array& dy, Grads& grads) {
    gradient = dy.clone();
    grads.add(0, dy);
  });
}

// Puts `by` on top of one element of the quantity called `moved`.
inline AtEach moved_by(const std::string& moved, int64_t element, double by) {
  return [=](const std::string& name, const Tensor& x) {
    if (name != moved) return x;
    Array there = x.value().clone();
    there.mutable_data()[element] += static_cast<real>(by);
    return Tensor(there);
  };
}

}  // namespace heed::tour
