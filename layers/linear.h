// y = x W^T + b.    x (..., d_in) -> y (..., d_out)
// weight (d_out, d_in), bias (d_out); initialised as by torch.nn.Linear.
#pragma once

#include <optional>

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/linear.h"
#include "layers/module/init.h"
#include "layers/module/registry.h"

namespace heed {

class Linear final : public Module {
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

  Signature signature() const override { return Signature::of_tokens(config.d_in); }
  void draw_as_gpt2() override {
    Module::draw_as_gpt2();
    init::clear(bias);
  }

  // Adds to y what a layer makes of x, whose parameters are this one's under `name`.
  void add(const std::string& name, std::unique_ptr<Module> layer) {
    added_.emplace(this, name, std::move(layer));
  }
  // The layer that was added, or null.
  Module* added() const { return added_ ? &**added_ : nullptr; }
  void take_off_added() {
    added_->leave(this);
    added_.reset();
  }

  const Config config;
  Parameter weight;  // (d_out, d_in)
  Parameter bias;    // (d_out), or empty

 protected:
  Tensor forward(const Input& in) override {
    const Tensor y = linear(in.x, weight, bias);
    return added_ ? y + (*added_)(in.x) : y;
  }

 private:
  std::optional<Child<Module>> added_;
};
HEED_LAYER(Linear, "linear");

// Of a layer that ends in this projection, if it has one: see Module::last_matrices().
inline std::vector<Tensor> last_matrix(const std::optional<Child<Linear>>& projection) {
  return projection ? std::vector<Tensor>{(*projection)->weight} : std::vector<Tensor>();
}

}  // namespace heed
