#include "layers/encoder_decoder.h"

#include "layers/module/masked_mean.h"

namespace heed {

void EncoderDecoder::Config::fields(Fields& f) {
  f.required("source_vocab_size", source_vocab_size, at_least(1),
             "number of tokens of the source; the data decides if absent")
      .example(5);
  f.required("vocab_size", vocab_size, at_least(1), "number of tokens; the data decides if absent")
      .example(7)
      .also_known_as(vocabulary_words);
  f.required("source_length", source_length, at_least(1), "largest number of tokens of a source")
      .example(6);
  f.required("context_length", context_length, at_least(1), "largest number of tokens written")
      .example(5)
      .also_known_as(length_words);
  f.required("d_model", d_model, at_least(1), "width of the embeddings and blocks")
      .example(4)
      .also_known_as(width_words);
  f.required("num_heads", num_heads, at_least(1), "number of attention heads")
      .example(2)
      .also_known_as(heads_words);
  f.required("num_layers", num_layers, in_range(1, 1000),
             "number of blocks of the encoder, and of the decoder")
      .example(1)
      .also_known_as(layers_words);
  f.optional("dropout", dropout, probability, "chance to drop a number")
      .also_try({0.25})
      .also_known_as(dropout_words);
  f.optional("qkv_bias", qkv_bias, "bias in the query, key and value projections");
  f.optional("bias", bias, "bias in all other Linear layers and shift in the norms");
  f.choice("norm", norm, norm_names, "which norm");
  f.choice("activation", activation, activation_names, "activation of the feed-forward");
  f.choice("position", position, {"learned", "sinusoidal"}, "how positions are told apart");
  f.choice("context", context, {"attention", "mean"},
           "attention: to every state of the encoder; mean: one fixed vector, their mean");
  f.optional("hidden_multiplier", hidden_multiplier, at_least(1),
             "hidden width of the feed-forward / d_model");
}

void EncoderDecoder::Config::check(ConfigErrors& errors, const ConfigNode& at) const {
  if (d_model % num_heads != 0) {
    errors.add_field(at, "num_heads", "must divide d_model: d_model is ", d_model,
                     ", num_heads is ", num_heads);
  }
}

EncoderDecoder::EncoderDecoder(const Config& c)
    : config(checked(c)),
      source_emb(this, "source_emb", Embedding::Config{c.source_vocab_size, c.d_model}),
      source_pos(this, "source_pos", Positional::Config{c.source_length, c.d_model, c.position}),
      encoder_blocks(make_encoder()),
      encoder_norm(this, "encoder_norm", make_norm(c.norm, c.d_model, c.bias)),
      tok_emb(this, "tok_emb", Embedding::Config{c.vocab_size, c.d_model}),
      pos_emb(this, "pos_emb", Positional::Config{c.context_length, c.d_model, c.position}),
      decoder_blocks(make_decoder()),
      final_norm(this, "final_norm", make_norm(c.norm, c.d_model, c.bias)),
      out_head(this, "out_head", Linear::Config{c.d_model, c.vocab_size, /*bias=*/false}),
      drop_emb(this, "drop_emb", Dropout::Config{c.dropout}) {}

std::vector<Child<TransformerBlock>> EncoderDecoder::make_encoder() {
  const LayerSpec attention{"multi_head_attention", ConfigNode::map({{"causal", false}})};
  const TransformerBlock::Config block{
      config.d_model, config.source_length, config.num_heads,
      config.dropout, config.qkv_bias,      config.bias,
      config.norm,    config.activation,    config.hidden_multiplier,
      attention};
  std::vector<Child<TransformerBlock>> blocks;
  for (int64_t i = 0; i < config.num_layers; ++i) {
    blocks.emplace_back(this, text("encoder_blocks.", i), block);
  }
  return blocks;
}

std::vector<Child<DecoderBlock>> EncoderDecoder::make_decoder() {
  const DecoderBlock::Config block{config.d_model, config.context_length, config.num_heads,
                                   config.dropout, config.qkv_bias,       config.bias,
                                   config.norm,    config.activation,     config.hidden_multiplier};
  std::vector<Child<DecoderBlock>> blocks;
  for (int64_t i = 0; i < config.num_layers; ++i) {
    blocks.emplace_back(this, text("decoder_blocks.", i), block);
  }
  return blocks;
}

namespace {

// Returns ids (T) as a batch of one, (1, T).
Ids batched(const Ids& ids) { return ids.rank() == 2 ? ids : ids.reshaped({1, ids.dim(0)}); }

void require_length(const char* what, const Ids& ids, int64_t most) {
  require(ids.dim(-1) <= most, "encoder_decoder: expected at most ", what, " ", most,
          " tokens, got ", ids.dim(-1));
}

void require_ids(const Input& in) {
  const bool fits =
      in.ids && in.source_ids && in.ids.rank() == in.source_ids.rank() &&
      (in.ids.rank() == 1 || (in.ids.rank() == 2 && in.ids.dim(0) == in.source_ids.dim(0)));
  const auto shape = [](const Ids& ids) { return ids ? text(ids.shape()) : std::string("none"); };
  require(fits, "encoder_decoder: expected source_ids (B, S) and ids (B, T), or (S) and (T), got ",
          shape(in.source_ids), " and ", shape(in.ids));
}

}  // namespace

Tensor EncoderDecoder::forward(const Input& in) {
  require_ids(in);
  require_length("source_length", in.source_ids, config.source_length);
  require_length("context_length", in.ids, config.context_length);
  const Ids source_ids = batched(in.source_ids), ids = batched(in.ids);
  require(!in.source_mask || in.source_mask.shape() == source_ids.shape(),
          "encoder_decoder: expected a source_mask (B, S) = ", source_ids.shape(), ", got ",
          in.source_mask.shape());

  Tensor states = drop_emb(source_pos(source_emb(source_ids)));  // (B, S, d_model)
  for (const Child<TransformerBlock>& block : encoder_blocks) {
    states = block({states, in.source_mask});
  }
  Input decoded;
  decoded.context = encoder_norm(states);
  decoded.mask = in.source_mask;
  if (config.context == "mean") {
    decoded.context = masked_mean("encoder_decoder", decoded.context, in.source_mask);
    decoded.mask = {};
  }
  decoded.x = drop_emb(pos_emb(tok_emb(ids)));  // (B, T, d_model)
  for (const Child<DecoderBlock>& block : decoder_blocks) {
    decoded.x = block(decoded);
  }
  const Tensor logits = out_head(final_norm(decoded.x));  // (B, T, vocab_size)
  return in.ids.rank() == 2 ? logits : reshape(logits, {ids.dim(1), config.vocab_size});
}

}  // namespace heed
