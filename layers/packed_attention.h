// Multi-head attention with one matrix for queries, keys and values: the parameters and
// initialisation of torch.nn.MultiheadAttention.
//   x (B, T <= context_length, d_in) -> context_vec (B, T, d_out);   head width d_out / num_heads
//   [queries, keys, values] = x in_proj_weight^T + in_proj_bias
// in_proj_weight (3 d_out, d_in) and in_proj_bias (3 d_out). out_proj is drawn first, then
// in_proj_weight by xavier_uniform_. All biases are initially 0.
#pragma once

#include "layers/multi_head_attention.h"

namespace heed {

class PackedAttention final : public Module {
 public:
  static constexpr const char* help = "multi-head attention with one matrix, as PyTorch's module";

  struct Config : MultiHeadAttention::Config {
    void fields(Fields& f) { packed_fields(f); }
  };

  explicit PackedAttention(const Config& c);

  Signature signature() const override { return config.signature(); }
  void draw_as_gpt2() override {
    Module::draw_as_gpt2();
    init::clear(in_proj_bias);
  }
  std::vector<Tensor> last_matrices() const override { return last_matrix(out_proj); }

  const Config config;
  std::optional<Child<Linear>> out_proj;
  Parameter in_proj_weight;  // (3 d_out, d_in)
  Parameter in_proj_bias;    // (3 d_out), or empty

 protected:
  Tensor forward(const Input& in) override;

 private:
  const Array angles_;
};
HEED_LAYER(PackedAttention, "packed_attention");

}  // namespace heed
