// A GPT: token and position embeddings, transformer blocks, a norm, logits over the vocabulary.
// The book, section 4.6; Radford et al. 2019. With bias false, tie_embeddings true, init gpt2 and
// activation gelu it is nanoGPT's model.
//   ids (B, T <= context_length) -> logits (B, T, vocab_size);  (T) -> (T, vocab_size)
//   x      = drop_emb(tok_emb(ids) + positions)
//   x      = trf_block(x), num_layers times
//   logits = out_head(final_norm(x))
#pragma once

#include <optional>

#include "autograd/ops/reshape.h"
#include "layers/embedding.h"
#include "layers/positional.h"
#include "layers/transformer_block.h"

namespace heed {

class Gpt final : public Module {
 public:
  static constexpr const char* help = "a GPT: embeddings, transformer blocks, logits";

  struct Config : BlockConfig {
    int64_t vocab_size = 0;
    int64_t num_layers = 0;
    bool tie_embeddings = false;
    std::string position = "learned";
    std::string init = "torch";
    std::optional<int64_t> num_kv_heads = std::nullopt;
    double rope_base = 10000;
    void fields(Fields& f);
    void check(ConfigErrors& errors, const ConfigNode& at) const;
  };

  explicit Gpt(const Config& c);

  Signature signature() const override {
    const Signature of_ids{.ids = true,
                           .vocab_size = config.vocab_size,
                           .longest = config.context_length,
                           .causal = true,
                           .cache = true};
    return of_ids.then(trf_blocks.front()->signature());
  }

  const Config config;
  Child<Embedding> tok_emb;
  std::optional<Child<Positional>> pos_emb;  // none with rope, which acts inside the attention
  Child<Dropout> drop_emb;
  std::vector<Child<TransformerBlock>> trf_blocks;
  Child<Module> final_norm;
  Child<Linear> out_head;

 protected:
  Tensor forward(const Input& in) override;

 private:
  void initialise_as_gpt2();
};
HEED_LAYER(Gpt, "gpt");

}  // namespace heed
