// Multi-head latent attention, MLA: keys and values of all heads are computed from one short vector
// per token, the latent, and generation keeps only that. DeepSeek-AI 2024, "DeepSeek-V2",
// arXiv:2405.04434, section 2.1, equations (9) to (19), whose names these are:
//   x (B, T <= context_length, d_in) -> u (B, T, d_out);   for token t, x_t the paper's h_t, and
//   head i of H, d_h = d_out / H numbers wide, with a rotary part of d_rope numbers (d_h^R):
//   c^KV_t = kv_norm(W_DKV x_t)                     the latent, d_latent numbers (d_c)
//   k^C_t  = W_UK c^KV_t,   v^C_t = W_UV c^KV_t     all heads side by side, H d_h
//   c^Q_t  = q_norm(W_DQ x_t)                       d_query_latent numbers (d'_c)
//   q^C_t  = W_UQ c^Q_t,    q^R_t = RoPE(W_QR c^Q_t)
//   k^R_t  = RoPE(W_KR x_t)                         one rotary key, which all heads share
//   q_ti = [q^C_ti; q^R_ti],   k_ti = [k^C_ti; k^R_t]
//   o_ti = sum_(j <= t) softmax_j(q_ti . k_ji / sqrt(d_h + d_rope)) v^C_ji
//   u_t  = out_proj [o_t1; ...; o_tH]
// Without d_query_latent, c^Q_t is x_t, and W_UQ is called W_query. Without rope, the rotary parts
// are left out. The two norms are RMS norms with eps 1e-6, which the equations lack but the
// published code has (section 3.1.2: "additional RMS Norm layers after the compressed latent
// vectors"). Rotary pairs are elements i and i + d_rope / 2, as in autograd/ops/rotary.h; the
// published code pairs neighbours, so rows of its rotary matrices come in another order.
//
// The cache keeps c^KV and k^R, d_latent + d_rope numbers a token, where multi_head_attention keeps
// 2 d_out. To generate a token, no key or value is computed again: W_UK moves to the query and W_UV
// to the result (end of section 2.1.2),
//   q^C_ti . k^C_ji = (W_UK_i^T q^C_ti) . c^KV_j,   sum_j p_j v^C_ji = W_UV_i (sum_j p_j c^KV_j),
// which is attention of H wide queries to one shared key and value. Up to rounding, the result is
// that of all tokens at once.
#pragma once

#include <optional>

#include "autograd/ops/rotary.h"
#include "layers/linear.h"
#include "layers/module/attend.h"
#include "layers/module/cache.h"
#include "layers/module/children.h"
#include "layers/rms_norm.h"

namespace heed {

class LatentAttention final : public Module {
 public:
  static constexpr const char* help = "keys and values from one latent a token (MLA, DeepSeek-V2)";

  struct Config {
    int64_t d_in = 0;
    int64_t d_out = 0;
    int64_t context_length = 0;
    int64_t num_heads = 0;
    std::optional<int64_t> d_latent = std::nullopt;
    std::optional<int64_t> d_query_latent = std::nullopt;
    bool rope = true;
    std::optional<int64_t> d_rope = std::nullopt;
    double rope_base = 10000;
    double dropout = 0;
    bool out_bias = true;
    void fields(Fields& f);
    void check(ConfigErrors& errors, const ConfigNode& at) const;

    int64_t head_width() const { return d_out / num_heads; }
    int64_t latent_width() const { return d_latent.value_or(std::max<int64_t>(1, d_out / 4)); }
    // 0 without rope; otherwise half a head, made even.
    int64_t rotary_width() const { return rope ? d_rope.value_or((head_width() + 3) / 4 * 2) : 0; }
    int64_t query_width() const { return d_query_latent.value_or(d_in); }
    AttentionOptions options() const;
  };

  explicit LatentAttention(const Config& c);

  Signature signature() const override {
    return {.width = config.d_in,
            .longest = config.context_length,
            .mask = true,
            .causal = true,
            .cache = true};
  }
  std::vector<Tensor> last_matrices() const override { return {out_proj->weight}; }

  const Config config;
  std::optional<Child<Linear>> W_DQ;  // (d_query_latent, d_in)
  std::optional<Child<RmsNorm>> q_norm;
  Child<Linear> W_UQ;                 // (d_out, query width), called W_query without W_DQ
  std::optional<Child<Linear>> W_QR;  // (H d_rope, query width)
  Child<Linear> W_DKV;                // (d_latent, d_in)
  Child<RmsNorm> kv_norm;
  Child<Linear> W_UK, W_UV;           // (d_out, d_latent)
  std::optional<Child<Linear>> W_KR;  // (d_rope, d_in)
  Child<Linear> out_proj;             // (d_out, d_out)

 protected:
  Tensor forward(const Input& in) override;

 private:
  // What a token needs of all earlier ones: [c^KV; k^R] of each.
  struct Latents {
    Array rows;  // (1, capacity, d_latent + d_rope); the first are in use
  };
  // A token's part of the query of each head, side by side: content (B, T, H d_h), and rotary
  // (B, T, H d_rope) or no tensor.
  struct Queries {
    Tensor content, rotary;
  };
  // o of all heads (B, T, H d_h), from the latents c^KV (B, S, d_latent) and the rotary keys
  // (B, S, d_rope), or no tensor, of all tokens.
  Tensor attend_to_keys(const Input& in, const Queries& q, const Tensor& latents,
                        const Tensor& rotary_keys, bool causal, double dropout);
  // The same for a batch of one, without keys and values: `rows` are [c^KV; k^R] (1, S, ...).
  Tensor attend_to_latents(const Input& in, const Queries& q, const Tensor& rows);
  Tensor attend_cached(const Input& in, const Queries& q, const Tensor& latents,
                       const Tensor& rotary_keys);

  const Array angles_;  // (context_length, d_rope), or no array
};
HEED_LAYER(LatentAttention, "latent_attention");

}  // namespace heed
