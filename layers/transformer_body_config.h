// The fields that models of one sequence share (transformer_body.h).
#pragma once

#include "layers/block_config.h"

namespace heed {

struct TransformerBodyConfig : BlockConfig {
  int64_t vocab_size = 0;
  int64_t num_layers = 0;
  std::string position = "learned";
  // The first field of every such model; the number of blocks, whose example it lacks; and
  // the words for positions: all but learned and sinusoidal add nothing to the embeddings.
  void vocab_size_field(Fields& f);
  FieldInfo& num_layers_field(Fields& f, int fewest);
  void position_field(Fields& f, std::vector<std::string> words);
  // As that of a block, or a list of them.
  void attention_field(Fields& f, Fill also = {});
  void check(ConfigErrors& errors, const ConfigNode& at) const;
};

}  // namespace heed
