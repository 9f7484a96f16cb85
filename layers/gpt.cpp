#include "layers/gpt.h"

#include <cmath>

#include "layers/head_loss.h"
#include "layers/module/init.h"

namespace heed {

TransformerBody::TransformerBody(const Config& c)
    : tok_emb(optional_child<Embedding>(
          c.vocab_size > 0, this, "tok_emb",
          Embedding::Config{.vocab_size = c.vocab_size, .d_model = c.d_model})),
      pos_emb(optional_child<Positional>(
          c.position == "learned" || c.position == "sinusoidal", this, "pos_emb",
          Positional::Config{
              .context_length = c.context_length, .d_model = c.d_model, .position = c.position})),
      drop_emb(this, "drop_emb", Dropout::Config{.dropout = c.dropout}),
      trf_blocks(child_list<TransformerBlock>(this, "trf_blocks", c.num_layers,
                                              [&](int64_t i) { return c.block(i); })),
      final_norm(this, "final_norm", make_norm(c)),
      context_length_(c.context_length) {}

Gpt::Gpt(const Config& c)
    : TransformerBody(checked(c)),
      config(c),
      out_head(this, "out_head",
               Linear::Config{.d_in = c.d_model, .d_out = c.vocab_size, .bias = false}) {
  if (c.tie_embeddings) out_head->weight.tie((*tok_emb)->weight);
  if (c.init == "gpt2") initialise_as_gpt2();
}

Tensor Gpt::forward(const Input& in) {
  return logits_or_loss(*this, *out_head, states("gpt", in), in.targets);  // (B, T, vocab_size)
}

Tensor TransformerBody::states(const char* layer, const Input& in) {
  require_ids(layer, in);
  return states_of_vectors(in.with((*tok_emb)(in.ids)));  // (B, T, d_model)
}

// Each block gets the mask, the cache and whatever else `in` has, with x in place of in.x.
Tensor TransformerBody::states_of_vectors(Input in) {
  in.x = drop_emb(pos_emb ? (*pos_emb)(in) : in.x);
  for (const Child<TransformerBlock>& block : trf_blocks) in.x = block(in);
  return final_norm(in.x);
}

void TransformerBody::require_ids(const char* layer, const Input& in) const {
  require((in.ids.rank() == 1 || in.ids.rank() == 2) && in.ids, layer,
          ": expected ids (B, T) or (T), got ", in.ids.shape());
  require(in.ids.dim(-1) <= context_length_, layer, ": expected at most context_length ",
          context_length_, " tokens, got ", in.ids.dim(-1));
}

Signature Gpt::signature() const {
  Signature whole = Signature::of_tokens(0);
  whole.ids = true;
  whole.vocab_size = config.vocab_size;
  whole.longest = config.context_length;
  whole.unbounded = !pos_emb;
  for (const Child<TransformerBlock>& block : trf_blocks) whole = whole.then(block->signature());
  return whole;
}

namespace {

// Children first, as torch.nn.Module.apply does. A tied matrix is drawn twice, as in PyTorch.
void draw_children_first(Module& module) {
  for (const auto& [name, child] : module.children()) draw_children_first(*child);
  module.draw_as_gpt2();
}

// Redraws the last matrices of a layer or, if it has none, of the layers in it, such as experts.
void draw_last_matrices(const Module& layer, double std) {
  const std::vector<Tensor> own = layer.last_matrices();
  for (const Tensor& matrix : own) init::redraw(matrix, std);
  for (const auto& [name, child] : layer.children()) {
    if (own.empty()) draw_last_matrices(*child, std);
  }
}

}  // namespace

// Draws in nanoGPT's order: first everything, then the last matrices of each residual branch again,
// with standard deviation 0.02 / sqrt(branches). The smaller numbers keep the sum of the branches
// from growing with depth (Radford et al. 2019, section 2.3).
void Gpt::initialise_as_gpt2() {
  draw_children_first(*this);
  const int64_t branches = (config.has_feed_forward() ? 2 : 1) * config.num_layers;
  draw_last_matrices(*this, 0.02 / std::sqrt(static_cast<double>(branches)));
}

}  // namespace heed
