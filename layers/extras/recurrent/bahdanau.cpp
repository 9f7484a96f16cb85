#include "layers/extras/recurrent/bahdanau.h"

#include <algorithm>

#include "autograd/ops/concat.h"
#include "autograd/ops/max.h"
#include "autograd/ops/tanh.h"

namespace heed {

void Bahdanau::Config::fields(Fields& f) {
  source_and_target_fields(f);
  f.required("context_length", context_length, at_least(1), "largest number of tokens").example(6);
  f.required("d_model", d_model, at_least(1), "width of the embeddings and states").example(4);
  f.optional("dropout", dropout, probability, "chance to drop a number of an embedding")
      .also_try({0.25});
}

Bahdanau::Bahdanau(const Config& c)
    : config(checked(c)),
      source_emb(this, "source_emb",
                 Embedding::Config{.vocab_size = c.source_vocab_size, .d_model = c.d_model}),
      encoder(this, "encoder", Recurrent::Config{.d_in = c.d_model, .d_out = c.d_model}),
      encoder_reverse(this, "encoder_reverse", encoder->config),
      tok_emb(this, "tok_emb", Embedding::Config{.vocab_size = c.vocab_size, .d_model = c.d_model}),
      W_initial(this, "W_initial",
                Linear::Config{.d_in = c.d_model, .d_out = c.d_model, .bias = false}),
      cross_att(this, "cross_att",
                GlobalAttention::Config{.d_in = c.d_model, .d_context = 2 * c.d_model}),
      decoder(this, "decoder", Recurrent::Config{.d_in = 3 * c.d_model, .d_out = c.d_model}),
      W_hidden(this, "W_hidden",
               Linear::Config{.d_in = 4 * c.d_model, .d_out = 2 * c.d_model, .bias = false}),
      out_head(this, "out_head",
               Linear::Config{.d_in = c.d_model, .d_out = c.vocab_size, .bias = false}),
      drop_emb(this, "drop_emb", Dropout::Config{.dropout = c.dropout}) {}

namespace {

// x (B, T, n) from its last token to its first.
Tensor backwards(const Tensor& x) {
  std::vector<Tensor> tokens;
  for (int64_t t = x.dim(1); t > 0; --t) {
    tokens.push_back(slice(x, 1, t - 1, t));
  }
  return concat(tokens, 1);
}

Mask backwards(const Mask& mask) {
  Mask reversed = mask ? mask.current().clone() : Mask();
  const int64_t tokens = mask ? mask.dim(1) : 0;
  for (int64_t b = 0; mask && b < mask.dim(0) && !dry_run(); ++b) {
    uint8_t* const row = reversed.mutable_data() + b * tokens;
    std::reverse(row, row + tokens);
  }
  return reversed;
}

// The larger of each two neighbours: x (B, T, 2 n) -> (B, T, n).
Tensor maxout(const Tensor& x) {
  return max(reshape(x, {x.dim(0), x.dim(1), x.dim(2) / 2, 2}), -1);
}

}  // namespace

Tensor Bahdanau::forward(const Input& in) {
  const auto [source_ids, ids] =
      source_and_target("bahdanau", in, config.source_length, config.context_length);
  const Tensor source = drop_emb(source_emb(source_ids));  // (B, S, d)
  const Tensor from_end = encoder_reverse->states(backwards(source), {}, backwards(in.source_mask));
  const Tensor h = concat({encoder->states(source, {}, in.source_mask), backwards(from_end)}, -1);
  const Tensor keys = cross_att->keys(h);
  const Tensor y = drop_emb(tok_emb(ids));  // (B, T, d)

  Tensor s = tanh(W_initial(Recurrent::last(from_end)));  // (B, d)
  std::vector<Tensor> states, weights;
  for (int64_t t = 0; t < ids.dim(1); ++t) {
    states.push_back(reshape(s, {s.dim(0), 1, s.dim(1)}));                       // s_(t-1)
    weights.push_back(cross_att->weights(states.back(), keys, in.source_mask));  // (B, 1, S)
    if (t + 1 < ids.dim(1)) {
      const Tensor c = matmul(weights.back(), h);  // (B, 1, 2 d)
      s = Recurrent::last(decoder->states(concat({slice(y, 1, t, t + 1), c}, -1), s));
    }
  }
  // The same mixes as above, all at once: observers see one map of the attention.
  const int64_t before = flop_count();
  const Tensor c = mix_values(*cross_att, concat(weights, 1), h);  // (B, T, 2 d)
  observe(*cross_att, c.shape(), flop_count() - before);
  const Tensor hidden = W_hidden(concat({concat(states, 1), y, c}, -1));  // (B, T, 2 d)
  const Tensor logits = out_head(maxout(hidden));                         // (B, T, V)
  return in.ids.rank() == 2 ? logits : reshape(logits, {ids.dim(1), config.vocab_size});
}

}  // namespace heed
