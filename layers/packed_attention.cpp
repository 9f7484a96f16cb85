#include "layers/packed_attention.h"

#include "autograd/array/shape.h"
#include "autograd/ops/split.h"

namespace heed {

std::unique_ptr<Module> MultiHeadAttention::make(const Config& c) {
  if (c.packed) return std::make_unique<PackedAttention>(PackedAttention::Config{c});
  return std::make_unique<MultiHeadAttention>(c);
}

PackedAttention::PackedAttention(const Config& c)
    : config(checked(c)),
      out_proj(optional_child<Linear>(
          c.out_proj, this, "out_proj",
          Linear::Config{.d_in = c.d_out, .d_out = c.d_out, .bias = c.out_bias})),
      in_proj_weight(this, "in_proj_weight", {saturated_product(3, c.d_out), c.d_in},
                     init::xavier_uniform),
      in_proj_bias(this, "in_proj_bias", {saturated_product(3, c.d_out)}, init::zeros, c.qkv_bias),
      angles_(c.variant.angles(c.sizes())) {
  if (c.out_proj && c.out_bias) {
    const NoGrad off;
    std::fill_n((*out_proj)->bias.tensor().mutable_value(), dry_run() ? 0 : c.d_out, real{0});
  }
}

Tensor PackedAttention::forward(const Input& in) {
  const Tensor x = with_batch("packed_attention", in.x, config.d_in);
  require_context("packed_attention", in, config.context_length, config.variant.forgets());
  const Tensor qkv = linear(x, in_proj_weight, in_proj_bias);  // (B, T, 3 d_out)
  Tensor context_vec;
  if (!angles_ && in.cache == nullptr) {
    context_vec = attend(*this, in, qkv, config.dropout, config.options());
  } else {
    const std::vector<Tensor> parts = split(qkv, config.d_out, -1);
    const auto turned = [&](const Tensor& part) {
      return config.variant.rotated(part, angles_, in, config.head_width());
    };
    context_vec = attend(*this, in, turned(parts[0]), turned(parts[1]), parts[2], config.dropout,
                         config.options());
  }
  return without_batch(out_proj ? (*out_proj)(context_vec) : context_vec, in.x);
}

}  // namespace heed
