// A GPT: token and position embeddings, transformer blocks, a norm, logits over the vocabulary.
// The book, section 4.6; Radford et al. 2019.
//   ids (B, T <= context_length) -> logits (B, T, vocab_size);  (T) -> (T, vocab_size)
//   x      = drop_emb(tok_emb(ids) + positions)
//   x      = trf_block(x), num_layers times
//   states = final_norm(x)                                      (B, T, d_model)
//   logits = out_head(states)
// With bias false, tie_embeddings true, init gpt2 and activation gelu it is nanoGPT's model.
#pragma once

#include <optional>

#include "layers/embedding.h"
#include "layers/gpt_config.h"
#include "layers/positional.h"
#include "layers/transformer_block.h"

namespace heed {

// All but the last layer: what models of one sequence share. Other models than a gpt end in one
// class for the whole sequence. Their parameters have the same names, so the weights of one fit the
// others.
class TransformerBody : public Module {
 public:
  using Config = TransformerBodyConfig;

  std::optional<Child<Embedding>> tok_emb;   // absent if vocab_size is 0: a model of vectors
  std::optional<Child<Positional>> pos_emb;  // learned or sinusoidal positions
  Child<Dropout> drop_emb;
  std::vector<Child<TransformerBlock>> trf_blocks;
  Child<Module> final_norm;

 protected:
  // Expects a config that was checked.
  explicit TransformerBody(const Config& c);

  // Throws ShapeError, naming `layer`, for ids of another rank or longer than context_length.
  void require_ids(const char* layer, const Input& in) const;
  // The states of in.ids, after require_ids.
  Tensor states(const char* layer, const Input& in);
  // The states of in.x (B, T, d_model) in place of embedded tokens.
  Tensor states_of_vectors(Input in);

 private:
  const int64_t context_length_;
};

class Gpt final : public TransformerBody {
 public:
  static constexpr const char* help = "a GPT: embeddings, transformer blocks, logits";

  using Config = GptConfig;

  explicit Gpt(const Config& c);

  Signature signature() const override;

  const Config config;
  Child<Linear> out_head;

 protected:
  Tensor forward(const Input& in) override;

 private:
  void initialise_as_gpt2();
};
HEED_LAYER(Gpt, "gpt");

}  // namespace heed
