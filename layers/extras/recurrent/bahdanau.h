// The network in which attention appeared: Bahdanau, Cho, Bengio 2014, "Neural machine translation
// by jointly learning to align and translate", section 3 and appendix A. The encoder reads the
// source in both directions, and what attention finds enters the next state of the decoder.
//   source_ids (B, S <= source_length), ids (B, T <= context_length)
//     -> logits (B, T, vocab_size);  without a batch: (S), (T) -> (T, vocab_size)
//   logits at t predict the token after ids at t, y_t
//   source_mask (B, S): 0 where the source is padding
//
//   h_j = h_j forwards and h_j backwards, side by side                (B, S, 2 d)
//   s_0 = tanh(W_initial h_1 backwards)                               (B, d)
//   attn_scores_tj = v . tanh(W_query s_(t-1) + W_key h_j),  attn_weights = softmax over j
//   c_t = sum_j attn_weights_tj h_j                                   (B, 2 d)
//   s_t = decoder(y_t and c_t side by side, s_(t-1))
//   m_t = max of each two neighbours of W_hidden (s_(t-1), y_t, c_t)  maxout, (B, d)
//   logits_t = W_out m_t
// As published but for the gates of both networks, which are torch.nn.GRU's: its reset gate is
// applied after the product with the state, theirs before. Output t reads the state s_(t-1), as in
// their appendix, so the last token updates no state.
#pragma once

#include "layers/dropout.h"
#include "layers/embedding.h"
#include "layers/extras/recurrent/global_attention.h"
#include "layers/extras/recurrent/recurrent.h"
#include "layers/linear.h"
#include "layers/source_and_target.h"

namespace heed {

class Bahdanau final : public Module {
 public:
  static constexpr const char* help =
      "a translator as in Bahdanau et al. 2014, where attention began";

  struct Config : SourceAndTargetConfig {
    int64_t context_length = 0;
    int64_t d_model = 0;
    double dropout = 0;
    void fields(Fields& f);
  };

  explicit Bahdanau(const Config& c);

  Signature signature() const override {
    return config.source_and_target_signature(config.context_length);
  }

  const Config config;
  Child<Embedding> source_emb;
  Child<Gru> encoder, encoder_reverse;
  Child<Embedding> tok_emb;
  Child<Linear> W_initial;
  Child<GlobalAttention> cross_att;
  Child<Gru> decoder;
  Child<Linear> W_hidden, out_head;
  Child<Dropout> drop_emb;

 protected:
  Tensor forward(const Input& in) override;
};
HEED_LAYER(Bahdanau, "bahdanau");

}  // namespace heed
