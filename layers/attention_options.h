// What later models changed in multi-head attention: options of multi_head_attention and
// packed_attention that the book does not have, with their rules. Each is off by default.
//   num_kv_heads   grouped-query attention: every num_heads / num_kv_heads query heads share one
//                  key and one value head (Ainslie et al. 2023, arXiv:2305.13245)
//   head_dim       another width of heads than d_out / num_heads, as in Qwen 3
//   rope           queries and keys are rotated by their positions (autograd/ops/rotary.h), or the
//                  first rotary_fraction of the elements of each head, as in GPT-NeoX
//   scale          multiplies attn_scores; 1 / sqrt(head width) if absent
//   attention_weights   how scores become weights, if not by softmax; not fused
//   window, sinks  a token sees itself, the window - 1 tokens before it (Beltagy, Peters and Cohan
//                  2020), and the first `sinks` tokens (Xiao et al. 2023, arXiv:2309.17453)
//   soft_cap C     attn_scores become C tanh(attn_scores / C) (Gemma 2, arXiv:2408.00118)
//   alibi          attn_scores fall with the distance (alibi_slope in autograd/kernels/attention.h)
//   qk_norm        each head of queries and keys is normalised before it is rotated (Henry et al.
//                  2020). The weights (head width) are shared by all heads, as in Qwen 3.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "layers/module/attend.h"
#include "layers/rope_scaling.h"

namespace heed {

// The sizes of the layer that takes these options.
struct AttentionSizes {
  int64_t context_length, num_heads, head_width;
  bool causal;
};

struct AttentionVariant {
  bool rope = false;
  double rope_base = 10000;
  double rotary_fraction = 1;
  RopeScaling rope_scaling = {};
  std::optional<double> scale = std::nullopt;
  std::string attention_weights = "softmax";
  std::optional<int64_t> window = std::nullopt;
  int64_t sinks = 0;
  std::optional<double> soft_cap = std::nullopt;
  bool alibi = false;
  std::optional<int64_t> num_kv_heads = std::nullopt;
  std::optional<int64_t> head_dim = std::nullopt;
  std::string qk_norm = "none";
  double norm_eps = 1e-5;

  // The fields that packed_attention has as well, then those that it lacks.
  void fields(Fields& f);
  void head_fields(Fields& f);
  void check(ConfigErrors& errors, const ConfigNode& at, const AttentionSizes& layer) const;

  // How many elements at the beginning of each head are rotated.
  int64_t rotary_width(int64_t head_width) const {
    return static_cast<int64_t>(rotary_fraction * static_cast<double>(head_width));
  }
  // The angles of rotary positions (context_length, rotary_width); no array without rope.
  Array angles(const AttentionSizes& layer) const;
  // x rotated by them (attend.h); by the same formula for positions behind the table.
  Tensor rotated(const Tensor& x, const Array& table, const Input& in, int64_t head_width) const;
  bool forgets() const { return options({}).forgets(); }
  // The norm for queries or keys; null without qk_norm.
  std::unique_ptr<Module> head_norm(int64_t head_width) const;
  AttentionOptions options(const AttentionSizes& layer) const;
};

}  // namespace heed
