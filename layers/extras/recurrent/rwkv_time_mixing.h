// RWKV-4's time mixing, which takes the place of attention: a mean of earlier values, each channel
// with a decay of its own, and a gate. Peng et al. 2023, "RWKV: Reinventing RNNs for the
// Transformer Era", section 3; scan/wkv.h has the equations of wkv.
//   x (B, T, d_in) -> (B, T, d_out)
//   x^r_t = mu_r x_t + (1 - mu_r) x_(t-1),  so x^k, x^v        the token shift; x_(-1) = 0
//   r_t = W_receptance x^r_t,  k_t = W_key x^k_t,  v_t = W_value x^v_t
//   y_t = W_output (sigmoid(r_t) * wkv_t)
// Parameters have the names and shapes of the published code, BlinkDL/RWKV-LM,
// RWKV-v4neo/src/model.py:
//   time_decay, time_first (d_out);  time_mix_k, time_mix_v, time_mix_r (1, 1, d_in), the mu;
//   key, value, receptance.weight (d_out, d_in), output.weight (d_out, d_out), without biases
// Their initial values are those that this code gives its first block, since a layer does not know
// its depth. For channel i of d:
//   time_decay -5 + 8 (i / (d - 1))^0.7,   time_first ln 0.3 + (0, 0.5, -0.5 in turn)
//   time_mix_k, time_mix_v i / d,   time_mix_r sqrt(i / d)
// The four matrices are drawn as those of any Linear (the published code sets key, receptance and
// output to 0).
//
// Time and memory are linear in T. While text is generated, the layer keeps the last x and three
// numbers a channel. It knows the order of tokens, by decay and shift, and needs no positions.
// There are no masks: padding after the last token cannot reach the tokens before.
#pragma once

#include <optional>

#include "layers/extras/recurrent/scan/wkv.h"
#include "layers/linear.h"
#include "layers/module/cache.h"

namespace heed {

class RwkvTimeMixing final : public Module {
 public:
  static constexpr const char* help = "RWKV-4's time mixing: a decaying mean instead of attention";

  struct Config {
    int64_t d_in = 0;
    int64_t d_out = 0;
    std::optional<int64_t> context_length = std::nullopt;
    void fields(Fields& f) {
      f.required("d_in", d_in, at_least(1), "width of x").example(4);
      f.required("d_out", d_out, at_least(1), "width of keys, values and output").example(6);
      f.optional("context_length", context_length, at_least(1), "largest number of tokens",
                 "no limit")
          .shows();
    }
  };

  explicit RwkvTimeMixing(const Config& c);

  Signature signature() const override {
    return {.width = config.d_in, .longest = config.context_length, .causal = true, .cache = true};
  }
  std::vector<Tensor> last_matrices() const override { return {output->weight}; }

  const Config config;
  Parameter time_decay, time_first;              // (d_out)
  Parameter time_mix_k, time_mix_v, time_mix_r;  // (1, 1, d_in)
  Child<Linear> key, value, receptance, output;

 protected:
  Tensor forward(const Input& in) override;

 private:
  struct State {
    Array x;     // (B, 1, d_in), the last token
    Array sums;  // (B, 3, d_out)
  };
};
HEED_LAYER(RwkvTimeMixing, "rwkv_time_mixing");

}  // namespace heed
