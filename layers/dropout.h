// While training, each number is set to 0 with the given probability and the others are divided by
// the probability to stay; otherwise x itself. Any shape. torch.nn.Dropout; the stream of masks is
// the config's (random.dropout_stream).
#pragma once

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

  // shortcut + what this layer makes of x.
  Tensor add_to(const Tensor& shortcut, const Tensor& x) {
    if (ForwardObserver::current() != nullptr) {
      return shortcut + (*this)(x);
    }
    const LayerScope scope(path().c_str());
    return dropout_add(shortcut, x, config.dropout, training());
  }

  const Config config;

 protected:
  Tensor forward(const Input& in) override { return dropout(in.x, config.dropout, training()); }
};
HEED_LAYER(Dropout, "dropout");

}  // namespace heed
