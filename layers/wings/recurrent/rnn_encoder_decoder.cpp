#include "layers/wings/recurrent/rnn_encoder_decoder.h"

#include "autograd/ops/concat.h"
#include "layers/module/children.h"

namespace heed {

void RnnEncoderDecoder::Config::fields(Fields& f) {
  source_and_target_fields(f);
  f.required("context_length", context_length, at_least(1), "largest number of tokens")
      .example(6)
      .also_known_as(context_words);
  f.required("d_model", d_model, at_least(1), "width of the embeddings and states")
      .example(4)
      .also_known_as(width_words);
  f.choice("cell", cell, {"gru", "rnn"}, "the recurrent layer of encoder and decoder");
  f.choice("attention", attention, {"none", "additive", "dot"},
           "none: the decoder begins with the encoder's last state, and sees no other");
  f.optional("dropout", dropout, probability, "chance to drop a number of an embedding")
      .also_try({0.25})
      .also_known_as({"drop_rate"});
}

RnnEncoderDecoder::RnnEncoderDecoder(const Config& c)
    : config(checked(c)),
      source_emb(this, "source_emb",
                 Embedding::Config{.vocab_size = c.source_vocab_size, .d_model = c.d_model}),
      encoder(this, "encoder", make_cell()),
      tok_emb(this, "tok_emb", Embedding::Config{.vocab_size = c.vocab_size, .d_model = c.d_model}),
      decoder(this, "decoder", make_cell()),
      cross_att(optional_child<GlobalAttention>(
          c.attention != "none", this, "cross_att",
          GlobalAttention::Config{.d_in = c.d_model, .score = c.attention})),
      out_head(
          this, "out_head",
          Linear::Config{
              .d_in = cross_att ? 2 * c.d_model : c.d_model, .d_out = c.vocab_size, .bias = false}),
      drop_emb(this, "drop_emb", Dropout::Config{.dropout = c.dropout}) {}

std::unique_ptr<Recurrent> RnnEncoderDecoder::make_cell() const {
  const Recurrent::Config square{.d_in = config.d_model, .d_out = config.d_model};
  if (config.cell == "rnn") {
    return std::make_unique<Rnn>(square);
  }
  return std::make_unique<Gru>(square);
}

Tensor RnnEncoderDecoder::forward(const Input& in) {
  const auto [source_ids, ids] =
      source_and_target("rnn_encoder_decoder", in, config.source_length, config.context_length);
  const Tensor source = drop_emb(source_emb(source_ids));              // (B, S, d_model)
  const Tensor encoded = encoder->states(source, {}, in.source_mask);  // (B, S, d_model)
  const Tensor last = reshape(slice(encoded, 1, -1, encoded.dim(1)),   // padding kept it
                              {encoded.dim(0), config.d_model});
  Tensor decoded = decoder->states(drop_emb(tok_emb(ids)), last);  // (B, T, d_model)
  if (cross_att) {
    Input attending(decoded, in.source_mask);
    attending.context = encoded;
    decoded = concat({decoded, (*cross_att)(attending)}, -1);  // (B, T, 2 d_model)
  }
  const Tensor logits = out_head(decoded);  // (B, T, vocab_size)
  return in.ids.rank() == 2 ? logits : reshape(logits, {ids.dim(1), config.vocab_size});
}

}  // namespace heed
