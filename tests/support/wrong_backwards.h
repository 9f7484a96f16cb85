// Backwards that are wrong in ways that a gradient check can miss, each with its right twin. The
// tests of gradcheck, of check_op and of the gradients of layers reject all of them.
#pragma once

#include <string>
#include <vector>

#include "layers/module/module.h"
#include "train/check/gradients/gradcheck.h"

namespace heed::testing {

struct BackwardMistake {
  std::string name;               // what is wrong: "0 at every odd element"
  Differentiable wrong;           // of one x (B, T, n) or (T, n)
  Differentiable right;           // the same values, with a right backward
  std::string says = "gradient";  // part of the message of the check
};

const std::vector<BackwardMistake>& wrong_backwards();

// y = x^2 with half of its gradient, for an x of any shape.
Tensor half_square(const Tensor& x);

// A layer that applies f to its x.
class FunctionLayer final : public Module {
 public:
  explicit FunctionLayer(Differentiable f) : f_(std::move(f)) {}

 protected:
  Tensor forward(const Input& in) override { return f_({in.x}); }

 private:
  const Differentiable f_;
};

}  // namespace heed::testing
