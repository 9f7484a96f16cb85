// Transformer blocks without a causal mask: every token sees all others, before and after it.
// Devlin et al. 2018 (BERT) for tokens, Dosovitskiy et al. 2020 (ViT) for pictures.
//   ids (B, T)                 with vocab_size: embedded tokens
//   x (B, channels, H, W)      with patch_size: a vector for each patch (patch_embedding.h)
//   x (B, T, d_model)          with neither
// T <= context_length; positions, blocks and the last norm are those of layers/gpt.h. Of the
// states (B, T, d_model) come
//   logits (B, num_classes)    with num_classes: out_head of the pooled states, as in classifier
//   logits (B, T, vocab_size)  of ids: out_head of each state, to fill in masked tokens
//   the states themselves      otherwise
// All take one sequence or picture without the axis B. A mask (B, T) hides tokens, not patches.
//
// The parameters have the names of a classifier's, so one starts from the weights of an encoder
// that has learned to fill in masked tokens, all but out_head.
#pragma once

#include "train/extras/sequence_models/layers/classifying_body.h"
#include "train/extras/sequence_models/layers/patch_embedding.h"

namespace heed {

class Encoder final : public ClassifyingBody {
 public:
  static constexpr const char* help = "transformer blocks that see both ways, as in BERT and ViT";

  struct Config : TransformerBody::Config {
    Config() { num_heads = 1; }
    int64_t patch_size = 0;
    int64_t image_height = 0;
    int64_t image_width = 0;
    int64_t channels = 1;
    bool class_token = false;
    int64_t num_classes = 0;
    std::string pool = "mean";
    void fields(Fields& f);
    void check(ConfigErrors& errors, const ConfigNode& at) const;
    bool reads_pictures() const { return patch_size > 0; }
    bool reads_ids() const { return vocab_size > 0 && !reads_pictures(); }
    int64_t outputs() const { return num_classes > 0 ? num_classes : reads_ids() ? vocab_size : 0; }
  };

  explicit Encoder(const Config& c);

  Signature signature() const override;

  const Config config;
  std::optional<Child<PatchEmbedding>> patch_emb;
  std::optional<Child<Linear>> out_head;

 protected:
  Tensor forward(const Input& in) override;

 private:
  Tensor forward_vectors(const Input& in);
};
HEED_LAYER(Encoder, "encoder");

}  // namespace heed
