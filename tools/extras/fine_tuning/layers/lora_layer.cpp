#include "tools/extras/fine_tuning/layers/lora_layer.h"

#include "autograd/graph/graph.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/matmul.h"

namespace heed {

void LoraLayer::Size::fields(Fields& f) {
  f.optional("rank", rank, at_least(1), "rows of A, columns of B");
  f.optional("alpha", alpha, above(0), "what is added is multiplied by alpha / rank");
  f.optional("dropout", dropout, probability, "chance to drop a number of x on its way to A");
}

void LoraLayer::Config::fields(Fields& f) {
  f.required("d_in", d_in, at_least(1), "width of x").example(4);
  f.required("d_out", d_out, at_least(1), "width of y").example(3);
  Size::fields(f);
}

LoraLayer::LoraLayer(const Config& c)
    : config(checked(c)),
      A(this, "A", {c.rank, c.d_in}, init::linear_weight),
      B(this, "B", {c.d_out, c.rank}, init::zeros),
      dropout_(this, "dropout", Dropout::Config{c.dropout}) {}

Tensor LoraLayer::forward(const Input& in) {
  const Tensor narrow = linear(dropout_(in.x), A, Tensor());  // (..., rank)
  return linear(narrow * Tensor(factor()), B, Tensor());
}

Array LoraLayer::product() const {
  const NoGrad off;
  return (matmul(B, A) * Tensor(factor())).value();
}

LoraLinear::LoraLinear(const Linear& base, const LoraLayer::Size& size)
    : Linear(base),
      lora(this, "lora", LoraLayer::Config{size, base.config.d_in, base.config.d_out}) {}

Tensor LoraLinear::forward(const Input& in) {
  const Tensor y = Linear::forward(in);
  return y + lora(in.x);
}

}  // namespace heed
