#include "layers/extras/alternatives/latent_attention.h"

#include <cmath>

#include "autograd/ops/concat.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/permute.h"
#include "autograd/ops/slice.h"
#include "layers/module/masks.h"

namespace heed {

void LatentAttention::Config::fields(Fields& f) {
  f.required("d_in", d_in, at_least(1), "width of x").example(4);
  f.required("d_out", d_out, at_least(1), "width of the output, all heads together").example(8);
  f.required("context_length", context_length, at_least(1), "largest number of tokens").example(6);
  f.required("num_heads", num_heads, at_least(1), "number of heads").shows(false).example(2);
  f.optional("d_latent", d_latent, at_least(1), "width of the latent of keys and values",
             "d_out / 4")
      .also_try({3});
  f.optional("d_query_latent", d_query_latent, at_least(1), "width of a latent of the queries",
             "none")
      .also_try({3});
  f.optional("rope", rope, "add a part to queries and keys that is turned by their positions");
  f.optional("d_rope", d_rope, at_least(2), "width of that part in each head, an even number",
             "half a head")
      .only_with("rope");
  f.optional("rope_base", rope_base, above(0), "the slowest turn is about 1 / rope_base");
  f.optional("dropout", dropout, probability, "chance to drop an attention weight")
      .also_try({0.25});
  f.optional("out_bias", out_bias, "bias in out_proj").shows();
}

void LatentAttention::Config::check(ConfigErrors& errors, const ConfigNode& at) const {
  errors.check_divides(at, "num_heads", num_heads, "d_out", d_out);
  if (rope && d_rope && *d_rope % 2 != 0) {
    errors.add_field(at, "d_rope", "must be even, since pairs are turned, got ", *d_rope);
  }
  if (!rope && rope_base != Config{}.rope_base) {
    errors.add_field(at, "rope_base", rope_base, " has no effect with rope false; write ",
                     "rope: true, or leave rope_base out");
  }
}

AttentionOptions LatentAttention::Config::options() const {
  const auto width = static_cast<double>(head_width() + rotary_width());
  return {.num_heads = num_heads, .causal = true, .scale = 1 / std::sqrt(width)};
}

namespace {

Linear::Config unbiased(int64_t d_in, int64_t d_out) {
  return {.d_in = d_in, .d_out = d_out, .bias = false};
}
RmsNorm::Config latent_norm(int64_t width) { return {.d_model = width, .eps = 1e-6}; }

}  // namespace

LatentAttention::LatentAttention(const Config& c)
    : config(checked(c)),
      W_DQ(optional_child<Linear>(c.d_query_latent.has_value(), this, "W_DQ",
                                  unbiased(c.d_in, c.query_width()))),
      q_norm(optional_child<RmsNorm>(c.d_query_latent.has_value(), this, "q_norm",
                                     latent_norm(c.query_width()))),
      W_UQ(this, W_DQ ? "W_UQ" : "W_query", unbiased(c.query_width(), c.d_out)),
      W_QR(optional_child<Linear>(c.rope, this, "W_QR",
                                  unbiased(c.query_width(), c.num_heads * c.rotary_width()))),
      W_DKV(this, "W_DKV", unbiased(c.d_in, c.latent_width())),
      kv_norm(this, "kv_norm", latent_norm(c.latent_width())),
      W_UK(this, "W_UK", unbiased(c.latent_width(), c.d_out)),
      W_UV(this, "W_UV", W_UK->config),
      W_KR(optional_child<Linear>(c.rope, this, "W_KR", unbiased(c.d_in, c.rotary_width()))),
      out_proj(this, "out_proj",
               Linear::Config{.d_in = c.d_out, .d_out = c.d_out, .bias = c.out_bias}),
      angles_(c.rope ? rotary_table(c.context_length, c.rotary_width(), c.rope_base) : Array()) {}

namespace {

// Two parts of every head, a (B, T, H d) and b (B, T, H e), as heads [a_i; b_i]: (B, T, H (d + e)).
Tensor joined_heads(const Tensor& a, const Tensor& b, int64_t heads) {
  const int64_t batch = a.dim(0), tokens = a.dim(1);
  const auto split = [&](const Tensor& x) {
    return reshape(x, {batch, tokens, heads, x.dim(2) / heads});
  };
  const Tensor both = concat({split(a), split(b)}, -1);  // (B, T, H, d + e)
  return reshape(both, {batch, tokens, a.dim(2) + b.dim(2)});
}

// Each head of x (1, T, H d) times its part of weight (H d, c); with Trans::yes, each head of
// x (1, T, H c) times that part transposed.
Tensor by_head(const Tensor& x, const Tensor& weight, int64_t heads, Trans trans) {
  const int64_t tokens = x.dim(1), width = weight.dim(0) / heads;
  const Tensor rows = permute(reshape(x, {tokens, heads, x.dim(2) / heads}), {1, 0, 2});
  const Tensor parts = reshape(weight, {heads, width, weight.dim(1)});
  const Tensor y = matmul(rows, parts, Trans::no, trans);  // (H, T, c), or (H, T, d)
  return reshape(permute(y, {1, 0, 2}), {1, tokens, heads * y.dim(2)});
}

}  // namespace

Tensor LatentAttention::forward(const Input& in) {
  const Tensor x = with_batch("latent_attention", in.x, config.d_in);
  require_context("latent_attention", in, config.context_length);
  const Tensor c_Q = W_DQ ? (*q_norm)((*W_DQ)(x)) : x;
  const Queries q{W_UQ(c_Q), W_QR ? rotated((*W_QR)(c_Q), angles_, in) : Tensor()};
  const Tensor c_KV = kv_norm(W_DKV(x));                                  // (B, T, d_latent)
  const Tensor k_R = W_KR ? rotated((*W_KR)(x), angles_, in) : Tensor();  // (B, T, d_rope)
  const Tensor heads = in.cache == nullptr
                           ? attend_to_keys(in, q, c_KV, k_R, /*causal=*/true, config.dropout)
                           : attend_cached(in, q, c_KV, k_R);
  return without_batch(out_proj(heads), in.x);
}

Tensor LatentAttention::attend_to_keys(const Input& in, const Queries& q, const Tensor& latents,
                                       const Tensor& rotary_keys, bool causal, double dropout) {
  const int64_t heads = config.num_heads;
  Tensor queries = q.content, keys = W_UK(latents);
  if (rotary_keys) {
    const std::vector<Tensor> of_all_heads(static_cast<size_t>(heads), rotary_keys);
    queries = joined_heads(queries, q.rotary, heads);  // (B, T, H (d_h + d_rope))
    keys = joined_heads(keys, concat(of_all_heads, -1), heads);
  }
  AttentionOptions options = config.options();
  options.causal = causal;
  return attend(*this, in, queries, keys, W_UV(latents), dropout, options);
}

Tensor LatentAttention::attend_to_latents(const Input& in, const Queries& q, const Tensor& rows) {
  const int64_t heads = config.num_heads, tokens = q.content.dim(1);
  const int64_t latent = config.latent_width();
  Tensor queries = by_head(q.content, W_UK->weight, heads, Trans::no);  // (1, T, H d_latent)
  if (q.rotary) queries = joined_heads(queries, q.rotary, heads);
  AttentionOptions options = config.options();
  options.num_kv_heads = 1;
  options.causal = false;
  // The rows are both keys and values. Of what is mixed, the rotary part is not used.
  const Tensor mixed = attend(*this, in, queries, rows, rows, /*dropout=*/0, options);
  const Tensor of_latents = slice(reshape(mixed, {1, tokens, heads, rows.dim(2)}), -1, 0, latent);
  return by_head(reshape(of_latents, {1, tokens, heads * latent}), W_UV->weight, heads, Trans::yes);
}

Tensor LatentAttention::attend_cached(const Input& in, const Queries& q, const Tensor& latents,
                                      const Tensor& rotary_keys) {
  Cache& cache = *in.cache;
  const int64_t past = in.past(), tokens = latents.dim(1);
  require(latents.dim(0) == 1 && past + tokens <= cache.capacity(),
          "latent_attention with a cache: expected x (1, t, d_in) and at most ", cache.capacity(),
          " tokens, got ", latents.dim(0), " sequences, ", past, " tokens and ", tokens, " more");
  const Tensor added = rotary_keys ? concat({latents, rotary_keys}, -1) : latents;
  const Tensor rows(cache.append(cache.state_of<Latents>(*this).rows, added.value()));
  Input seen = in;
  seen.cache = nullptr;
  if (past == 0) {
    return attend_to_keys(seen, q, latents, rotary_keys, /*causal=*/true, /*dropout=*/0);
  }
  if (tokens > 1) {
    seen.mask = masked_where(in.mask, 1, tokens, past + tokens,
                             [past](int64_t t, int64_t s) { return s <= past + t; });
  }
  if (is_plain(*W_UK) && is_plain(*W_UV)) {
    return attend_to_latents(seen, q, rows);
  }
  const int64_t latent = config.latent_width();
  return attend_to_keys(seen, q, slice(rows, -1, 0, latent),
                        rotary_keys ? slice(rows, -1, latent, rows.dim(2)) : Tensor(),
                        /*causal=*/false, /*dropout=*/0);
}

}  // namespace heed
