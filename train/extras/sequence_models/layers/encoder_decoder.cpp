#include "train/extras/sequence_models/layers/encoder_decoder.h"

#include "layers/head_loss.h"
#include "layers/module/masked_mean.h"

namespace heed {

void EncoderDecoder::Config::fields(Fields& f) {
  source_and_target_fields(f);
  block_fields(f);
  f.required("num_layers", num_layers, in_range(1, 1000),
             "number of blocks of the encoder, and of the decoder")
      .example(1);
  f.choice("position", position, {"learned", "sinusoidal"}, "how positions are told apart");
  f.choice("context", context, {"attention", "mean"},
           "attention: to every state of the encoder; mean: one fixed vector, their mean");
  attention_field(f);
  f.layer("encoder_attention", encoder_attention, "any layer (B, S, d_model) -> (B, S, d_model)",
          [this](Defaults& d) {
            fill_attention(d, source_length);
            d.set("causal", false);
          });
  cross_attention_field(f, cross_attention, *this);
}

void EncoderDecoder::Config::check(ConfigErrors& errors, const ConfigNode& at) const {
  BlockConfig::check(errors, at);
  check_heads(errors, at);
}

EncoderDecoder::EncoderDecoder(const Config& c)
    : config(checked(c)),
      source_emb(this, "source_emb",
                 Embedding::Config{.vocab_size = c.source_vocab_size, .d_model = c.d_model}),
      source_pos(
          this, "source_pos",
          Positional::Config{
              .context_length = c.source_length, .d_model = c.d_model, .position = c.position}),
      encoder_blocks(make_encoder()),
      encoder_norm(this, "encoder_norm", make_norm(c)),
      tok_emb(this, "tok_emb", Embedding::Config{.vocab_size = c.vocab_size, .d_model = c.d_model}),
      pos_emb(
          this, "pos_emb",
          Positional::Config{
              .context_length = c.context_length, .d_model = c.d_model, .position = c.position}),
      decoder_blocks(
          child_list<DecoderBlock>(this, "decoder_blocks", c.num_layers,
                                   DecoderBlock::Config{config, config.cross_attention})),
      final_norm(this, "final_norm", make_norm(c)),
      out_head(this, "out_head",
               Linear::Config{.d_in = c.d_model, .d_out = c.vocab_size, .bias = false}),
      drop_emb(this, "drop_emb", Dropout::Config{.dropout = c.dropout}) {}

std::vector<Child<TransformerBlock>> EncoderDecoder::make_encoder() {
  TransformerBlock::Config block = config;
  block.context_length = config.source_length;
  block.attention = config.encoder_attention;
  return child_list<TransformerBlock>(this, "encoder_blocks", config.num_layers, block);
}

Tensor EncoderDecoder::forward(const Input& in) {
  const auto [source_ids, ids] =
      source_and_target("encoder_decoder", in, config.source_length, config.context_length);
  Tensor states = drop_emb(source_pos(source_emb(source_ids)));  // (B, S, d_model)
  for (const Child<TransformerBlock>& block : encoder_blocks) {
    states = block({states, in.source_mask});
  }
  Input decoded;
  decoded.context = encoder_norm(states);
  decoded.mask = in.source_mask;
  decoded.x_mask = in.mask;
  if (config.context == "mean") {
    decoded.context = masked_mean("encoder_decoder", decoded.context, in.source_mask);
    decoded.mask = {};
  }
  decoded.x = drop_emb(pos_emb(tok_emb(ids)));  // (B, T, d_model)
  for (const Child<DecoderBlock>& block : decoder_blocks) {
    decoded.x = block(decoded);
  }
  const Tensor logits = logits_or_loss(*this, *out_head, final_norm(decoded.x), in.targets);
  return in.ids.rank() == 2 ? logits : reshape(logits, {ids.dim(1), config.vocab_size});
}

}  // namespace heed
