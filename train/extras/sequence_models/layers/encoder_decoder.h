// An encoder-decoder transformer, as for translation: the encoder reads a source sequence, the
// decoder writes a target sequence and attends to the encoder's states. Vaswani et al. 2017, with
// learned positions by default and pre-norm, as in gpt.h.
//   source_ids (B, S <= source_length), ids (B, T <= context_length)
//     -> logits (B, T, vocab_size);  without a batch: (S), (T) -> (T, vocab_size)
//   logits at t predict the token after ids at t
//   source_mask (B, S): 0 where the source is padding
// context: attention   the decoder attends to every state of the encoder
//          mean        the decoder sees only their mean: one fixed-size context vector, as in
//                      translators before attention (Sutskever et al. 2014). The parameters are
//                      the same.
#pragma once

#include "layers/embedding.h"
#include "layers/positional.h"
#include "layers/source_and_target.h"
#include "train/extras/sequence_models/layers/decoder_block.h"

namespace heed {

class EncoderDecoder final : public Module {
 public:
  static constexpr const char* help = "an encoder for one sequence, a decoder for another";

  struct Config : BlockConfig, SourceAndTargetConfig {
    int64_t num_layers = 0;
    std::string position = "learned";
    std::string context = "attention";
    LayerChoice encoder_attention{"multi_head_attention"};  // `attention` is that of the decoder
    LayerChoice cross_attention{"cross_attention"};
    void fields(Fields& f);
    void check(ConfigErrors& errors, const ConfigNode& at) const;
  };

  explicit EncoderDecoder(const Config& c);

  Signature signature() const override {
    return config.source_and_target_signature(config.context_length);
  }

  const Config config;
  Child<Embedding> source_emb;
  Child<Positional> source_pos;
  std::vector<Child<TransformerBlock>> encoder_blocks;
  Child<Module> encoder_norm;
  Child<Embedding> tok_emb;
  Child<Positional> pos_emb;
  std::vector<Child<DecoderBlock>> decoder_blocks;
  Child<Module> final_norm;
  Child<Linear> out_head;
  Child<Dropout> drop_emb;

 protected:
  Tensor forward(const Input& in) override;

 private:
  std::vector<Child<TransformerBlock>> make_encoder();
};
HEED_LAYER(EncoderDecoder, "encoder_decoder");

}  // namespace heed
