// Dropout with probability p, for x of any shape. torch.nn.Dropout.
//   training:    y = 0 with probability p, otherwise x / (1 - p)
//   evaluation:  y = x, the same tensor
// The config chooses the random stream of the masks (random.dropout_stream).
#pragma once

#include "autograd/graph/layer_scope.h"
#include "autograd/ops/dropout.h"
#include "layers/module/registry.h"

namespace heed {

class Dropout final : public Module {
 public:
  static constexpr const char* help = "sets numbers to 0 at random while training";

  struct Config {
    double dropout = 0;
    void fields(Fields& f) {
      f.required("dropout", dropout, probability, "chance to drop a number").example(0.25);
    }
  };

  explicit Dropout(const Config& c) : config(checked(c)) {}

  // Returns shortcut + dropout(x), in one operation.
  Tensor add_to(const Tensor& shortcut, const Tensor& x) {
    const LayerScope scope(path().c_str());
    Tensor sum = dropout_add(shortcut, x, config.dropout, training());
    observe(*this, x.shape(), 0);
    return sum;
  }

  Signature signature() const override { return Signature::of_tokens(0); }

  const Config config;

 protected:
  Tensor forward(const Input& in) override { return dropout(in.x, config.dropout, training()); }
};
HEED_LAYER(Dropout, "dropout");

}  // namespace heed
