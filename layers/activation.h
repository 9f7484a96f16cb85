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

class GeluErf final : public Module {
 public:
  static constexpr const char* help = "x Phi(x), with the error function";
  using Config = NoFields;
  explicit GeluErf(const Config& = {}) {}
  Signature signature() const override { return Signature::of_tokens(0); }

 protected:
  Tensor forward(const Input& in) override { return gelu(in.x, Gelu::erf); }
};
HEED_LAYER(GeluErf, "gelu");

class GeluTanh final : public Module {
 public:
  static constexpr const char* help = "GELU by its approximation with tanh, as in GPT-2";
  using Config = NoFields;
  explicit GeluTanh(const Config& = {}) {}
  Signature signature() const override { return Signature::of_tokens(0); }

 protected:
  Tensor forward(const Input& in) override { return gelu(in.x, Gelu::tanh); }
};
HEED_LAYER(GeluTanh, "gelu_tanh");

class Relu final : public Module {
 public:
  static constexpr const char* help = "max(x, 0)";
  using Config = NoFields;
  explicit Relu(const Config& = {}) {}
  Signature signature() const override { return Signature::of_tokens(0); }

 protected:
  Tensor forward(const Input& in) override { return relu(in.x); }
};
HEED_LAYER(Relu, "relu");

class Relu2 final : public Module {
 public:
  static constexpr const char* help = "max(x, 0)^2";
  using Config = NoFields;
  explicit Relu2(const Config& = {}) {}
  Signature signature() const override { return Signature::of_tokens(0); }

 protected:
  Tensor forward(const Input& in) override { return pow(relu(in.x), 2); }
};
HEED_LAYER(Relu2, "relu2");

class Silu final : public Module {
 public:
  static constexpr const char* help = "x sigmoid(x)";
  using Config = NoFields;
  explicit Silu(const Config& = {}) {}
  Signature signature() const override { return Signature::of_tokens(0); }

 protected:
  Tensor forward(const Input& in) override { return silu(in.x); }
};
HEED_LAYER(Silu, "silu");

// The values of a model's `activation:`. swiglu takes one layer more.
inline const std::vector<std::string> feed_forward_activations{"gelu_tanh", "gelu", "relu",
                                                               "relu2",     "silu", "swiglu"};

}  // namespace heed
