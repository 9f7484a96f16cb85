// Multi-head attention as num_heads separate causal_attention layers, their outputs concatenated.
// The book, section 3.6.1.
//   x (B, T <= context_length, d_in) -> context_vec (B, T, num_heads * d_out)
#pragma once

#include "autograd/ops/concat.h"
#include "layers/causal_attention.h"
#include "layers/module/children.h"

namespace heed {

class MultiHeadAttentionWrapper final : public Module {
 public:
  static constexpr const char* help =
      "causal heads side by side; the output is num_heads x d_out wide (book, 3.6)";

  struct Config {
    int64_t d_in = 0;
    int64_t d_out = 0;
    int64_t context_length = 0;
    int64_t num_heads = 0;
    double dropout = 0;
    bool qkv_bias = false;
    void fields(Fields& f) {
      f.required("d_in", d_in, at_least(1), "width of x").example(4);
      f.required("d_out", d_out, at_least(1), "width of one head").example(3).fill_as("d_head");
      f.required("context_length", context_length, at_least(1), "largest number of tokens")
          .example(6);
      f.required("num_heads", num_heads, at_least(1), "number of heads").shows(false).example(2);
      f.optional("dropout", dropout, probability, "chance to drop an attention weight")
          .also_try({0.25});
      f.optional("qkv_bias", qkv_bias, "bias in the projections").shows();
    }
  };

  explicit MultiHeadAttentionWrapper(const Config& c)
      : config(checked(c)),
        heads(
            child_list<CausalAttention>(this, "heads", c.num_heads,
                                        CausalAttention::Config{.d_in = c.d_in,
                                                                .d_out = c.d_out,
                                                                .context_length = c.context_length,
                                                                .dropout = c.dropout,
                                                                .qkv_bias = c.qkv_bias})) {}

  Signature signature() const override { return heads.front()->signature(); }

  const Config config;
  std::vector<Child<CausalAttention>> heads;

 protected:
  Tensor forward(const Input& in) override {
    std::vector<Tensor> context_vecs;
    for (const Child<CausalAttention>& head : heads) {
      context_vecs.push_back(head(in));  // (B, T, d_out)
    }
    return concat(context_vecs, -1);  // (B, T, num_heads * d_out)
  }
};
HEED_LAYER(MultiHeadAttentionWrapper, "multi_head_attention_wrapper");

}  // namespace heed
