// Looks up a trained vector for each token.    ids (...) -> (..., d_model)
// weight (vocab_size, d_model), initialised from N(0, 1) as by torch.nn.Embedding. Throws
// ShapeError for an id outside [0, vocab_size).
#pragma once

#include "autograd/ops/embedding.h"
#include "layers/module/init.h"
#include "layers/module/registry.h"

namespace heed {

class Embedding final : public Module {
 public:
  static constexpr const char* help = "a trained vector for each token, as torch.nn.Embedding";

  struct Config {
    int64_t vocab_size = 0;
    int64_t d_model = 0;
    void fields(Fields& f) {
      f.required("vocab_size", vocab_size, at_least(1), "number of tokens").example(7);
      f.required("d_model", d_model, at_least(1), "width of the vectors").example(4);
    }
  };

  explicit Embedding(const Config& c)
      : config(checked(c)), weight(this, "weight", {c.vocab_size, c.d_model}, init::embedding) {}

  Signature signature() const override {
    return {.ids = true,
            .vocab_size = config.vocab_size,
            .causal = true,
            .cache = true,
            .cache_batch = true};
  }

  const Config config;
  Parameter weight;  // (vocab_size, d_model)

 protected:
  Tensor forward(const Input& in) override {
    require(static_cast<bool>(in.ids), "embedding: expected token ids, got none");
    return embedding(weight, in.ids);
  }
};
HEED_LAYER(Embedding, "embedding");

}  // namespace heed
