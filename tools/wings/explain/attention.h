// The steps of an attention layer: Q, K, V, scores, scaling, mask, softmax, mix of the values,
// heads side by side, out_proj.
#pragma once

#include <optional>
#include <string>

#include "tools/wings/explain/walk.h"

namespace heed::explain {

// Takes apart layers that project their input by W_query, W_key and W_value, under these names, or
// by one in_proj_weight; heads that are layers of their own (multi_head_attention_wrapper); and
// simple_attention, which projects nothing. Scores are tried with the scale 1 / sqrt(head width)
// and 1, with and without a causal mask, until they give the weights that the layer has used. Of a
// layer whose weights are not explained in this way, only they and its output are shown.
class AttentionWalk {
 public:
  AttentionWalk(Walk& walk, const Module& layer, const std::string& x, const std::string& context)
      : walk_(walk), layer_(layer), x_(x), context_(context) {}

  std::string walk();

 private:
  // A projection of all heads: (T, H d).
  struct Projection {
    std::string title, id, x;
    Array value;
    Array weight = {}, bias = {};  // no weight: the value is x itself
  };
  struct Projected {
    Projection queries, keys, values;
  };
  // Scores as the layer must have computed them.
  struct Scores {
    Array scores;  // (H, T, S)
    real scale = 1;
    bool causal = false;
  };

  std::optional<Projected> projected() const;
  Projection projection(const char* title, const std::string& name, const std::string& x) const;
  Projected packed(const Module& layer) const;
  static std::optional<Scores> explaining(const Array& queries, const Array& keys,
                                          const Array& weights);

  // As the layer rotates it by its positions; unchanged if it does not.
  Projection rotated(Projection of) const;

  void add(const Projection& of);
  void add_rotation(const Projection& of, const Projection& rotated);
  std::string add_weights(const Projection& queries, const Projection& keys, const Scores& scores,
                          const Array& weights);
  std::string add_mix(const std::string& weights, const Projection& values, int64_t heads);
  // The layer as one step.
  std::string opaque(const Array& weights);

  Walk& walk_;
  const Module& layer_;
  const std::string x_, context_;
};

}  // namespace heed::explain
