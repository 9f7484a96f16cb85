// y = x W^T + b.    x (..., d_in) -> y (..., d_out)
// weight (d_out, d_in), bias (d_out); initialised as in torch.nn.Linear.
#pragma once

#include <optional>
#include <typeinfo>

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/linear.h"
#include "layers/module/init.h"
#include "layers/module/registry.h"

namespace heed {

class Linear : public Module {
 public:
  static constexpr const char* help = "y = x W^T + b, as torch.nn.Linear";

  struct Config {
    int64_t d_in = 0;
    int64_t d_out = 0;
    bool bias = true;
    void fields(Fields& f) {
      f.required("d_in", d_in, at_least(1), "width of x").example(4);
      f.required("d_out", d_out, at_least(1), "width of y").example(3);
      f.optional("bias", bias, "add a vector b").shows();
    }
  };

  explicit Linear(const Config& c)
      : config(checked(c)),
        weight(this, "weight", {c.d_out, c.d_in}, init::linear_weight),
        bias(
            this, "bias", {c.d_out}, [&c](Array& values) { init::linear_bias(values, c.d_in); },
            c.bias) {}
  // Shares the parameters of `other`, to take its place by Module::replace_child().
  Linear(const Linear& other)
      : Module(), config(other.config), weight(this, other.weight), bias(this, other.bias) {}

  Signature signature() const override { return Signature::of_tokens(config.d_in); }
  void draw_as_gpt2() override {
    Module::draw_as_gpt2();
    init::clear(bias);
  }

  const Config config;
  Parameter weight;  // (d_out, d_in)
  Parameter bias;    // (d_out), or empty

 protected:
  Tensor forward(const Input& in) override { return linear(in.x, weight, bias); }
};
HEED_LAYER(Linear, "linear");

// False for a derived class, whose forward() no operation on the weight may replace.
inline bool is_plain(const Linear& layer) { return typeid(layer) == typeid(Linear); }

// The last_matrices() (see Module) of a layer that ends in this projection, if it has one.
inline std::vector<Tensor> last_matrix(const std::optional<Child<Linear>>& projection) {
  return projection ? std::vector<Tensor>{(*projection)->weight} : std::vector<Tensor>();
}

}  // namespace heed
