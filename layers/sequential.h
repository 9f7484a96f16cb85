// Applies layers in sequence. They are named by index, "0", "1", ..., as in torch.nn.Sequential.
//   layers: [{type: linear, d_in: 4, d_out: 8}, {type: relu}, {type: linear, d_in: 8, d_out: 2}]
#pragma once

#include "layers/module/registry.h"

namespace heed {

class Sequential final : public Module {
 public:
  static constexpr const char* help = "layers one after the other";

  struct Config {
    std::vector<LayerChoice> layers;
    void fields(Fields& f) {
      f.layers("layers", layers, "each is given what the one before it made")
          .example(
              ConfigNode::list({ConfigNode::map({{"type", "linear"}, {"d_in", 4}, {"d_out", 5}}),
                                ConfigNode::map({{"type", "gelu"}})}));
    }
  };

  explicit Sequential(const Config& c) {
    for (const LayerChoice& choice : checked(c).layers) {
      const size_t at = layers.size();
      layers.emplace_back(this, text(at), make_layer(choice));
      require<ConfigError>(at == 0 || !layers.back()->signature().ids, "sequential: layer ", at,
                           ", ", choice.type(),
                           ", takes ids; only the first layer may, as it would ",
                           "ignore what the layers before it made");
    }
  }

  Signature signature() const override {
    Signature all = layers.front()->signature();
    for (size_t i = 1; i < layers.size(); ++i) {
      all = all.then(layers[i]->signature());
    }
    return all;
  }

  std::vector<Child<Module>> layers;

 protected:
  Tensor forward(const Input& in) override {
    Tensor x = layers.front()(in);
    for (size_t i = 1; i < layers.size(); ++i) {
      x = layers[i](in.with(x));
    }
    return x;
  }
};
HEED_LAYER(Sequential, "sequential");

}  // namespace heed
