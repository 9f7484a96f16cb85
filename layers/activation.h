// Elementwise activations: x of any shape -> y of the same shape.
//   gelu        y = x Phi(x), Phi(x) = (1 + erf(x / sqrt(2))) / 2
//               Hendrycks and Gimpel 2016; torch.nn.GELU
//   gelu_tanh   y = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
//               torch.nn.GELU(approximate="tanh"), used by GPT-2
//   relu        y = max(x, 0)
//   relu2       y = max(x, 0)^2
//               So et al. 2021, "Primer", arXiv:2109.08668
//   silu        y = x sigmoid(x)
#pragma once

#include "autograd/ops/gelu.h"
#include "autograd/ops/pow.h"
#include "autograd/ops/relu.h"
#include "autograd/ops/silu.h"
#include "layers/module/registry.h"

namespace heed {

// What the layers have in common: each is its function of x.
class Elementwise : public Module {
 public:
  using Config = NoFields;
  Signature signature() const override { return Signature::of_tokens(0); }

 protected:
  explicit Elementwise(Tensor (*function)(const Tensor&)) : function_(function) {}
  Tensor forward(const Input& in) override { return function_(in.x); }

 private:
  Tensor (*const function_)(const Tensor&);
};

struct GeluErf final : Elementwise {
  static constexpr const char* help = "x Phi(x), with the error function";
  explicit GeluErf(const Config& = {})
      : Elementwise([](const Tensor& x) { return gelu(x, Gelu::erf); }) {}
};
HEED_LAYER(GeluErf, "gelu");

struct GeluTanh final : Elementwise {
  static constexpr const char* help = "GELU by its approximation with tanh, as in GPT-2";
  explicit GeluTanh(const Config& = {})
      : Elementwise([](const Tensor& x) { return gelu(x, Gelu::tanh); }) {}
};
HEED_LAYER(GeluTanh, "gelu_tanh");

struct Relu final : Elementwise {
  static constexpr const char* help = "max(x, 0)";
  explicit Relu(const Config& = {}) : Elementwise(relu) {}
};
HEED_LAYER(Relu, "relu");

struct Relu2 final : Elementwise {
  static constexpr const char* help = "max(x, 0)^2";
  explicit Relu2(const Config& = {})
      : Elementwise([](const Tensor& x) { return pow(relu(x), 2); }) {}
};
HEED_LAYER(Relu2, "relu2");

struct Silu final : Elementwise {
  static constexpr const char* help = "x sigmoid(x)";
  explicit Silu(const Config& = {}) : Elementwise(silu) {}
};
HEED_LAYER(Silu, "silu");

// The values of a model's `activation:`. swiglu takes one layer more.
inline const std::vector<std::string> feed_forward_activations{"gelu_tanh", "gelu", "relu",
                                                               "relu2",     "silu", "swiglu"};

}  // namespace heed
