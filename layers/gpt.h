// A GPT: token and position embeddings, transformer blocks, a norm, logits over the vocabulary.
// The book, section 4.6; Radford et al. 2019. With bias false, tie_embeddings true, init gpt2 and
// activation gelu it is nanoGPT's model. Blocks take the attentions of a list in turn.
//   ids (B, T <= context_length) -> logits (B, T, vocab_size);  (T) -> (T, vocab_size)
//   logits = out_head(states);  states: embeddings, blocks and a norm, as in transformer_body.h
#pragma once

#include "layers/transformer_body.h"

namespace heed {

// The fields of a gpt's body: those of models with its parameters, whatever they end in.
struct GptBodyConfig : TransformerBody::Config {
  std::optional<int64_t> num_kv_heads = std::nullopt;
  std::optional<int64_t> head_dim = std::nullopt;
  double rope_base = 10000;
  double rotary_fraction = 1;
  // In this order; fields of the model come between them.
  void size_fields(Fields& f);
  void attention_fields(Fields& f);
  void check(ConfigErrors& errors, const ConfigNode& at) const;
};

class Gpt final : public TransformerBody {
 public:
  static constexpr const char* help = "a GPT: embeddings, transformer blocks, logits";

  struct Config : GptBodyConfig {
    bool tie_embeddings = false;
    std::string init = "torch";
    void fields(Fields& f);
  };

  explicit Gpt(const Config& c);

  Signature signature() const override {
    Signature whole{.ids = true,
                    .vocab_size = config.vocab_size,
                    .longest = config.context_length,
                    .causal = true,
                    .cache = true};
    for (const Child<TransformerBlock>& block : trf_blocks) whole = whole.then(block->signature());
    return whole;
  }

  const Config config;
  Child<Linear> out_head;

 protected:
  Tensor forward(const Input& in) override;

 private:
  void initialise_as_gpt2();
};
HEED_LAYER(Gpt, "gpt");

}  // namespace heed
