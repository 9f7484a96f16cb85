// The attention weights of every layer, with token names on both axes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "train/config/run_config.h"

namespace heed {

// The names of tokens.
std::vector<std::string> token_names(const Tokenizer* tokenizer, std::span<const int32_t> ids);
// {} for no array.
inline std::vector<std::string> token_names(const Tokenizer* tokenizer, const Ids& ids) {
  return token_names(tokenizer, ids ? ids.span() : std::span<const int32_t>());
}

struct AttentionMap {
  std::string path;                  // of the layer: "trf_blocks.0.att"
  bool cross = false;                // cross-attention: the keys come from another sequence
  std::vector<std::string> queries;  // T names, one per row; if cross: the written tokens
  std::vector<std::string> keys;     // S names, one per column
  Array weights;                     // (H, T, S), shares that sum to 1 in a row; before dropout

  // The weights (S) of one query.
  std::span<const real> row(int64_t head, int64_t query) const {
    const auto columns = static_cast<size_t>(weights.dim(2));
    const auto before = static_cast<size_t>(head * weights.dim(1) + query);
    return weights.span().subspan(before * columns, columns);
  }
};

// The maps of all attention layers whose weights are shares, in the order in which they run, for a
// batch of one (as Answer::shown). Runs the model in evaluation mode and restores it.
std::vector<AttentionMap> attention_maps(Module& model, const Task& text, const Input& shown);

// Whether attention weights lie between 0 and 1, as maps and means of them suppose. Those of layers
// with attention_weights sum or none may not.
bool are_shares(const Array& weights);

// A default input for showing a model's attention.
struct Exhibit {
  std::string prompt;  // "" for data without text
  std::string answer;
  Input shown;  // a batch of one
};

// The config's sample.prompt if it is valid and has at least 3 tokens, else the first held-out
// example. Plain texts are cut to `most_tokens`.
Exhibit exhibit(Module& model, const Task& task, const RunConfig& config, int64_t most_tokens = 32);

}  // namespace heed
