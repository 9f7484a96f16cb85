// What models of one sequence share: embeddings, transformer blocks, and a last norm.
//   ids (B, T <= context_length) -> states (B, T, d_model);  (T) -> (T, d_model)
//   x      = drop_emb(tok_emb(ids) + positions)
//   x      = trf_block(x), num_layers times
//   states = final_norm(x)
// A gpt makes a token of each state. Models of extras make a class of them all; their parameters
// have the same names, so the weights of one fit the others.
#pragma once

#include <optional>

#include "layers/embedding.h"
#include "layers/positional.h"
#include "layers/transformer_block.h"
#include "layers/transformer_body_config.h"

namespace heed {

class TransformerBody : public Module {
 public:
  using Config = TransformerBodyConfig;

  std::optional<Child<Embedding>> tok_emb;  // none with a vocab_size of 0: a model of vectors
  std::optional<Child<Positional>> pos_emb;
  Child<Dropout> drop_emb;
  std::vector<Child<TransformerBlock>> trf_blocks;
  Child<Module> final_norm;

 protected:
  // Of a config that was checked.
  explicit TransformerBody(const Config& c);

  // Both throw ShapeError, naming `layer`, for ids of another rank or longer than context_length.
  void require_ids(const char* layer, const Input& in) const;
  Tensor states(const char* layer, const Input& in);
  // Of in.x (B, T, d_model) in place of embedded tokens.
  Tensor states_of_vectors(const Input& in);

 private:
  const int64_t context_length_;
};

}  // namespace heed
