#include "layers/transformer_body.h"

namespace heed {

TransformerBody::TransformerBody(const Config& c)
    : tok_emb(optional_child<Embedding>(
          c.vocab_size > 0, this, "tok_emb",
          Embedding::Config{.vocab_size = c.vocab_size, .d_model = c.d_model})),
      pos_emb(optional_child<Positional>(
          c.position != "rope" && c.position != "none", this, "pos_emb",
          Positional::Config{
              .context_length = c.context_length, .d_model = c.d_model, .position = c.position})),
      drop_emb(this, "drop_emb", Dropout::Config{.dropout = c.dropout}),
      trf_blocks(child_list<TransformerBlock>(this, "trf_blocks", c.num_layers,
                                              [&](int64_t i) { return c.block(i); })),
      final_norm(this, "final_norm", make_norm(c)),
      context_length_(c.context_length) {}

void TransformerBody::require_ids(const char* layer, const Input& in) const {
  require((in.ids.rank() == 1 || in.ids.rank() == 2) && in.ids, layer,
          ": expected ids (B, T) or (T), got ", in.ids.shape());
  require(in.ids.dim(-1) <= context_length_, layer, ": expected at most context_length ",
          context_length_, " tokens, got ", in.ids.dim(-1));
}

Tensor TransformerBody::states(const char* layer, const Input& in) {
  require_ids(layer, in);
  return states_of_vectors(in.with((*tok_emb)(in.ids)));
}

Tensor TransformerBody::states_of_vectors(const Input& in) {
  Tensor x = drop_emb(pos_emb ? (*pos_emb)(in) : in.x);
  for (const Child<TransformerBlock>& block : trf_blocks) {
    x = block(in.with(x));
  }
  return final_norm(x);
}

}  // namespace heed
