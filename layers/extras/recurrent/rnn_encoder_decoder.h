// A recurrent encoder-decoder, as translators were before the transformer (Cho et al. 2014;
// Sutskever et al. 2014, with lstm). Its last state is all that the decoder gets of the source: one
// vector of fixed size. With attention it also looks back at every state of the encoder.
//   source_ids (B, S <= source_length), ids (B, T <= context_length)
//     -> logits (B, T, vocab_size);  without a batch: (S), (T) -> (T, vocab_size)
//   logits at t predict the token after ids at t
//   source_mask (B, S): 0 where the source is padding; the encoder's state stays as it was there
//
//   h = encoder(source_emb(source_ids))                 (B, S, d_model), first state 0
//     = tanh(conv1d(source_emb(source_ids)))            with encoder_kernel_size
//   s = decoder(tok_emb(ids)), first state h_S          (B, T, d_model)
//                              with encoder_kernel_size the mean of h, and c = 0 in an lstm
//   logits = out_head(s)                                attention: none
//          = out_head(s and context_vec side by side)   attention: additive or dot
// context_vec is that of global_attention.h. As in Luong et al. 2015 it does not enter the next
// state of the decoder (bahdanau.h). So all states are computed first, and then the attention of
// all tokens at once. The convolutional encoder is that of Gehring et al. 2016, of one layer.
#pragma once

#include <memory>
#include <optional>

#include "layers/dropout.h"
#include "layers/embedding.h"
#include "layers/extras/recurrent/conv1d.h"
#include "layers/extras/recurrent/global_attention.h"
#include "layers/extras/recurrent/recurrent.h"
#include "layers/linear.h"
#include "layers/source_and_target.h"

namespace heed {

class RnnEncoderDecoder final : public Module {
 public:
  static constexpr const char* help = "a recurrent encoder and decoder, with or without attention";

  struct Config : SourceAndTargetConfig {
    int64_t context_length = 0;
    int64_t d_model = 0;
    std::string cell = "gru";
    std::optional<int64_t> encoder_kernel_size = std::nullopt;  // none: the cell reads the source
    std::string attention = "none";
    double dropout = 0;
    void fields(Fields& f);
    void check(ConfigErrors& errors, const ConfigNode& at) const {
      if (encoder_kernel_size.value_or(1) % 2 == 0) {
        errors.add_field(at, "encoder_kernel_size", "must be odd: a token sees as many on both ",
                         "sides, got ", *encoder_kernel_size);
      }
    }
  };

  explicit RnnEncoderDecoder(const Config& c);

  Signature signature() const override {
    return config.source_and_target_signature(config.context_length);
  }

  const Config config;
  Child<Embedding> source_emb;
  std::optional<Child<Recurrent>> encoder;
  std::optional<Child<Conv1d>> window_encoder;  // its path is `encoder`, too
  Child<Embedding> tok_emb;
  Child<Recurrent> decoder;
  std::optional<Child<GlobalAttention>> cross_att;
  Child<Linear> out_head;
  Child<Dropout> drop_emb;

 protected:
  Tensor forward(const Input& in) override;

 private:
  std::unique_ptr<Recurrent> make_cell() const;
  struct Encoded {
    Tensor states, first;  // h (B, S, d_model), and the first state of the decoder
  };
  Encoded encoded(const Tensor& source, const Mask& mask);
};
HEED_LAYER(RnnEncoderDecoder, "rnn_encoder_decoder");

}  // namespace heed
