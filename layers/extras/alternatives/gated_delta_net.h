// Gated DeltaNet: a memory of fixed size in place of attention, written by the gated delta rule.
// Yang, Kautz and Hatamizadeh 2024, "Gated Delta Networks: Improving Mamba2 with Delta Rule",
// arXiv:2412.06464, section 3 and figure 1; scan/gated_delta_rule.h has equation (10).
//   x (B, T, d_in) -> y (B, T, d_out);   head width d = d_out / num_heads, sums within a head
//   q = norm(silu(conv(q_proj x))) / sqrt(d),   k = norm(silu(conv(k_proj x)))
//   v = silu(conv(v_proj x)),   norm(a) = a / sqrt(sum a^2 + 1e-6)
//   beta  = sigmoid(b_proj x)                               how much of a value is written
//   alpha = exp(-exp(A_log) softplus(a_proj x + dt_bias))   how much of S is kept
//   o     = gated_delta_rule(q, k, v, alpha, beta)
//   y     = o_proj (o_norm(o) * silu(g_proj x))             an RMS norm over each head
// conv is a window over the last K = kernel_size tokens of each channel, ShortConvolution below.
// Parameters have the names and shapes of the authors' code (NVlabs/GatedDeltaNet and the library
// flash-linear-attention), with values as wide as keys:
//   q_proj, k_proj, v_proj, g_proj.weight (d_out, d_in), o_proj.weight (d_out, d_out),
//   a_proj, b_proj.weight (H, d_in), without biases;   A_log, dt_bias (H)
//   q_conv1d, k_conv1d, v_conv1d.weight (d_out, 1, K);   o_norm.scale (d), there o_norm.weight
// and so have their initial values: A_log the logarithm of U(0, 16); dt_bias such that its softplus
// is between 0.001 and 0.1, uniform in the logarithm; convolutions as torch.nn.Conv1d.
//
// While text is generated, a head keeps S, d^2 numbers, and a channel the K - 1 numbers before its
// window: time and memory are linear in T. In training they are quadratic. Convolution and decay
// tell the order of tokens, so no positions are needed. There are no masks: padding after the last
// token cannot reach the tokens before.
#pragma once

#include <optional>

#include "layers/extras/alternatives/scan/gated_delta_rule.h"
#include "layers/linear.h"
#include "layers/module/cache.h"
#include "layers/rms_norm.h"

namespace heed {

// A causal convolution of each channel alone, then silu: x (B, T, d) -> y (B, T, d).
//   y_t = silu(sum_j weight[:, 0, j] x_(t + j - K + 1)),   x is 0 before the first token
class ShortConvolution final : public Module {
 public:
  struct Config {
    int64_t width = 0;
    int64_t kernel_size = 0;
  };
  explicit ShortConvolution(const Config& c)
      : config(c), weight(this, "weight", {c.width, 1, c.kernel_size}, init::linear_weight) {}

  Signature signature() const override {
    return {.width = config.width, .causal = true, .cache = true};
  }

  const Config config;
  Parameter weight;  // (d, 1, K)

 protected:
  Tensor forward(const Input& in) override;

 private:
  struct State {
    Array last;  // (B, K - 1, d), the tokens before the next one
  };
};

class GatedDeltaNet final : public Module {
 public:
  static constexpr const char* help = "a memory written by the gated delta rule (Gated DeltaNet)";

  struct Config {
    int64_t d_in = 0;
    int64_t d_out = 0;
    int64_t num_heads = 0;
    std::optional<int64_t> context_length = std::nullopt;
    int64_t kernel_size = 4;
    void fields(Fields& f);
    void check(ConfigErrors& errors, const ConfigNode& at) const;

    int64_t head_width() const { return d_out / num_heads; }
  };

  explicit GatedDeltaNet(const Config& c);

  Signature signature() const override {
    return {.width = config.d_in, .longest = config.context_length, .causal = true, .cache = true};
  }
  std::vector<Tensor> last_matrices() const override { return {o_proj->weight}; }

  const Config config;
  Child<Linear> q_proj, k_proj, v_proj, a_proj, b_proj;
  Parameter A_log, dt_bias;  // (H)
  Child<ShortConvolution> q_conv1d, k_conv1d, v_conv1d;
  Child<Linear> g_proj;
  Child<RmsNorm> o_norm;
  Child<Linear> o_proj;

 protected:
  Tensor forward(const Input& in) override;

 private:
  struct State {
    Array memory;  // S of each head (B, H, d, d)
  };
};
HEED_LAYER(GatedDeltaNet, "gated_delta_net");

}  // namespace heed
