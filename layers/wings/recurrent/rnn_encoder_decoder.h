// A recurrent encoder-decoder, as translators were before the transformer (Cho et al. 2014,
// Sutskever et al. 2014). Its last state is all that the decoder gets of the source: one vector of
// fixed size. With attention it also looks back at every state of the encoder.
//   source_ids (B, S <= source_length), ids (B, T <= context_length)
//     -> logits (B, T, vocab_size);  without a batch: (S), (T) -> (T, vocab_size)
//   logits at t predict the token after ids at t
//   source_mask (B, S): 0 where the source is padding; the encoder's state stays as it was there
//
//   h = encoder(source_emb(source_ids))                 (B, S, d_model), first state 0
//   s = decoder(tok_emb(ids)), first state h_S          (B, T, d_model)
//   logits = out_head(s)                                attention: none
//          = out_head(s and context_vec side by side)   attention: additive or dot
// context_vec is that of global_attention.h. As in Luong et al. 2015 it does not enter the next
// state of the decoder. So all states are computed first, and then the attention of all tokens at
// once.
#pragma once

#include <memory>
#include <optional>

#include "layers/block_config.h"
#include "layers/dropout.h"
#include "layers/embedding.h"
#include "layers/global_attention.h"
#include "layers/linear.h"
#include "layers/wings/recurrent/recurrent.h"

namespace heed {

class RnnEncoderDecoder final : public Module {
 public:
  static constexpr const char* help = "a recurrent encoder and decoder, with or without attention";

  struct Config : SourceAndTargetConfig {
    int64_t context_length = 0;
    int64_t d_model = 0;
    std::string cell = "gru";
    std::string attention = "none";
    double dropout = 0;
    void fields(Fields& f);
  };

  explicit RnnEncoderDecoder(const Config& c);

  Signature signature() const override {
    return config.source_and_target_signature(config.context_length);
  }

  const Config config;
  Child<Embedding> source_emb;
  Child<Recurrent> encoder;
  Child<Embedding> tok_emb;
  Child<Recurrent> decoder;
  std::optional<Child<GlobalAttention>> cross_att;
  Child<Linear> out_head;
  Child<Dropout> drop_emb;

 protected:
  Tensor forward(const Input& in) override;

 private:
  std::unique_ptr<Recurrent> make_cell() const;
};
HEED_LAYER(RnnEncoderDecoder, "rnn_encoder_decoder");

}  // namespace heed
