#include "layers/extras/recurrent/rnn_encoder_decoder.h"

#include "autograd/ops/concat.h"
#include "autograd/ops/tanh.h"
#include "layers/module/children.h"
#include "layers/module/masked_mean.h"

namespace heed {

void RnnEncoderDecoder::Config::fields(Fields& f) {
  source_and_target_fields(f);
  f.required("context_length", context_length, at_least(1), "largest number of tokens").example(6);
  f.required("d_model", d_model, at_least(1), "width of the embeddings and states").example(4);
  f.choice("cell", cell, {"gru", "rnn", "lstm"}, "the recurrent layer of encoder and decoder");
  f.optional("encoder_kernel_size", encoder_kernel_size, at_least(1),
             "a convolution over this many tokens, an odd number, reads the source", "the cell")
      .also_try({3});
  f.choice("attention", attention, {"none", "additive", "dot"},
           "none: the decoder begins with the encoder's last state, and sees no other");
  f.optional("dropout", dropout, probability, "chance to drop a number of an embedding")
      .also_try({0.25});
}

RnnEncoderDecoder::RnnEncoderDecoder(const Config& c)
    : config(checked(c)),
      source_emb(this, "source_emb",
                 Embedding::Config{.vocab_size = c.source_vocab_size, .d_model = c.d_model}),
      encoder(optional_child(this, "encoder", c.encoder_kernel_size ? nullptr : make_cell())),
      window_encoder(
          optional_child<Conv1d>(c.encoder_kernel_size.has_value(), this, "encoder",
                                 Conv1d::Config{.d_in = c.d_model,
                                                .d_out = c.d_model,
                                                .kernel_size = c.encoder_kernel_size.value_or(1),
                                                .causal = false})),
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
  if (config.cell == "lstm") {
    return std::make_unique<Lstm>(square);
  }
  return std::make_unique<Gru>(square);
}

RnnEncoderDecoder::Encoded RnnEncoderDecoder::encoded(const Tensor& source, const Mask& mask) {
  if (encoder) {
    const Tensor states =
        (*encoder)->states(source, {}, mask);  // padding leaves the last as it was
    return {(*encoder)->outputs(states), Recurrent::last(states)};
  }
  const Tensor states = tanh((*window_encoder)({source, mask}));  // (B, S, d_model)
  const int64_t batch = states.dim(0), width = config.d_model;
  const Tensor mean = reshape(masked_mean("rnn_encoder_decoder", states, mask), {batch, width});
  const bool has_cell = states_of(decoder->cell) == 2;
  return {states, has_cell ? concat({mean, Tensor(Array::zeros({batch, width}))}, 1) : mean};
}

Tensor RnnEncoderDecoder::forward(const Input& in) {
  const auto [source_ids, ids] =
      source_and_target("rnn_encoder_decoder", in, config.source_length, config.context_length);
  const Encoded source = encoded(drop_emb(source_emb(source_ids)), in.source_mask);
  const Tensor written = drop_emb(tok_emb(ids));
  Tensor decoded = decoder->outputs(decoder->states(written, source.first));  // (B, T, d_model)
  if (cross_att) {
    Input attending(decoded, in.source_mask);
    attending.context = source.states;
    decoded = concat({decoded, (*cross_att)(attending)}, -1);  // (B, T, 2 d_model)
  }
  const Tensor logits = out_head(decoded);  // (B, T, vocab_size)
  return in.ids.rank() == 2 ? logits : reshape(logits, {ids.dim(1), config.vocab_size});
}

}  // namespace heed
