#include "layers/transformer_body_config.h"

namespace heed {

void TransformerBodyConfig::vocab_size_field(Fields& f) {
  f.required("vocab_size", vocab_size, at_least(1),
             "number of tokens; needed where no data gives it")
      .example(7)
      .also_known_as(vocabulary_words);
}

FieldInfo& TransformerBodyConfig::num_layers_field(Fields& f, int fewest) {
  return f
      .required("num_layers", num_layers, in_range(fewest, 1000), "number of transformer blocks")
      .also_known_as(layers_words);
}

void TransformerBodyConfig::position_field(Fields& f, std::vector<std::string> words) {
  f.choice("position", position, std::move(words), "how positions are told apart")
      .also_known_as({"pos_emb", "positional_encoding", "position_embedding_type"})
      .also_known_as({"rope", "rotary", "use_rope", "use_rotary"}, "rope");
}

void TransformerBodyConfig::attention_field(Fields& f, Fill also) {
  FieldInfo& info = BlockConfig::attention_field(f, std::move(also));
  info.help += "; blocks take those of a list in turn";
  info.or_list = true;
}

void TransformerBodyConfig::check(ConfigErrors& errors, const ConfigNode& at) const {
  BlockConfig::check(errors, at);
  check_heads(errors, at);
  if (!attention.others.empty() && std::ssize(attention.others) >= num_layers) {
    errors.add_field(at, "attention", "expected as many as there are blocks, num_layers ",
                     num_layers, ", or fewer, got ", 1 + attention.others.size());
  }
}

}  // namespace heed
