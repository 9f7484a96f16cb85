// The fields of a gpt and of models that share its body, and the rules between them.
#pragma once

#include "layers/block_config.h"

namespace heed {

// The fields that models of one sequence share.
struct TransformerBodyConfig : BlockConfig {
  int64_t vocab_size = 0;
  int64_t num_layers = 0;
  std::string position = "learned";
  void vocab_size_field(Fields& f);
  FieldInfo& num_layers_field(Fields& f, int fewest);
  void position_field(Fields& f, std::vector<std::string> words);
  // The attention of all blocks, or a list of them that the blocks take in turn.
  void attention_field(Fields& f, Fill also = {});
  void check(ConfigErrors& errors, const ConfigNode& at) const;
};

// The fields of a gpt, and of models that have its body and another last layer.
struct GptBodyConfig : TransformerBodyConfig {
  std::optional<int64_t> num_kv_heads = std::nullopt;
  std::optional<int64_t> head_dim = std::nullopt;
  double rope_base = 10000;
  double rotary_fraction = 1;
  // In this order; the model declares other fields between them.
  void size_fields(Fields& f);
  void attention_fields(Fields& f);
  void check(ConfigErrors& errors, const ConfigNode& at) const;
};

struct GptConfig : GptBodyConfig {
  bool tie_embeddings = false;
  std::string init = "torch";
  void fields(Fields& f);
};

}  // namespace heed
