// What attends to what: the attention weights of every layer, with the tokens on both axes.
#pragma once

#include <string>
#include <vector>

#include "train/config/run_config.h"

namespace heed {

struct AttentionMap {
  std::string path;                  // of the layer: "trf_blocks.0.att"
  bool cross = false;                // the keys are of another sequence than the queries
  std::vector<std::string> queries;  // T names, of the rows; of a cross map: the tokens written
  std::vector<std::string> keys;     // S names, of the columns
  Array weights;                     // (H, T, S), every row sums to 1, before dropout
};

// The maps of every layer that attends, in the order in which they run, for a batch of one (as
// Answer::shown). Runs the model in evaluation mode and leaves it as it was.
std::vector<AttentionMap> attention_maps(Module& model, const Task& task, const Input& shown);

// What a model is looked at with when nobody asks it anything.
struct Exhibit {
  std::string prompt;  // "" for data that has no text
  std::string answer;
  Input shown;  // a batch of one
};

// The config's sample.prompt if it can be answered and has at least 3 tokens, else the first
// held-out example; of a text the first `most_tokens`.
Exhibit exhibit(Module& model, const Task& task, const RunConfig& config, int64_t most_tokens = 32);

}  // namespace heed
