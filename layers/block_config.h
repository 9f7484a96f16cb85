// The fields that models share, and their rules: those of transformer blocks, and those of models
// that read one sequence and write another.
#pragma once

#include <optional>

#include "layers/config/defaults.h"
#include "layers/module/registry.h"

namespace heed {

struct BlockConfig {
  int64_t d_model = 0;
  int64_t context_length = 0;
  int64_t num_heads = 0;
  double dropout = 0;
  bool qkv_bias = false;
  bool bias = true;
  std::string norm = "layer_norm";
  double norm_eps = 1e-5;
  std::string activation = "gelu_tanh";
  int64_t hidden_multiplier = 4;
  std::optional<int64_t> hidden_size;  // of the feed-forward, instead of the multiplier
  std::string feed_forward = "feed_forward";
  LayerChoice attention{"multi_head_attention"};  // of blocks that let it be chosen

  bool has_feed_forward() const { return feed_forward != "none"; }

  // All of them.
  void fields(Fields& f);
  // All but attention.
  void block_fields(Fields& f);
  // attention, with what every block fills in and what `also` does.
  void attention_field(Fields& f, Fill also = {});
  // Fills in what the attention of a block takes from it, for sequences of at most `longest`
  // tokens. layers/README.md lists the names.
  void fill_attention(Defaults& d, const int64_t& longest) const;

  void check(ConfigErrors& errors, const ConfigNode& at) const;
  // Whether the attention of a whole model has the model's number of heads.
  void check_heads(ConfigErrors& errors, const ConfigNode& at) const;
  // The same for fields of a model that its attention needs to have, too.
  void check_rotary(ConfigErrors& errors, const ConfigNode& at, const std::string& position,
                    double rope_base) const;
  void check_kv_heads(ConfigErrors& errors, const ConfigNode& at,
                      const std::optional<int64_t>& num_kv_heads) const;
};

// The norm of a block. rms_norm has no bias.
std::unique_ptr<Module> make_norm(const BlockConfig& c);

struct SourceAndTargetConfig {
  int64_t source_vocab_size = 0;
  int64_t vocab_size = 0;
  int64_t source_length = 0;

  void source_and_target_fields(Fields& f);
  Signature source_and_target_signature(int64_t context_length) const {
    return {.ids = true,
            .vocab_size = vocab_size,
            .longest = context_length,
            .context = true,
            .source_vocab_size = source_vocab_size,
            .source_longest = source_length,
            .mask = true,
            .causal = true};
  }
};

// The words of other tools for fields of models.
inline const std::vector<std::string> width_words{"emb_dim", "n_embd", "embed_dim"};
inline const std::vector<std::string> context_words{"block_size", "max_position_embeddings"};
inline const std::vector<std::string> layers_words{"n_layers", "n_layer", "num_hidden_layers"};
inline const std::vector<std::string> vocabulary_words{"vocab", "n_vocab"};

}  // namespace heed
