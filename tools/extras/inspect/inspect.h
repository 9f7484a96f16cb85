// `heed inspect`: its options, and its parts other than the tree of layers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "train/config/run_config.h"

namespace heed::cli {

struct InspectOptions {
  std::string target;             // a run, or a config (its model before training)
  std::vector<std::string> sets;  // --set arguments, for a config
  std::optional<int64_t> batch;
  bool attention = false;
  std::optional<std::string> prompt, ids;
  std::optional<int64_t> layer, head;  // from 0; all if absent
  bool all = false;                    // otherwise the terminal shows the last block, or `layer`
  std::optional<std::string> out;      // a picture, .svg
  std::optional<std::string> graph;
  bool json = false;
};

// --attention: prints the attention weights of layers and heads for a prompt, or writes them as a
// picture; returns the exit code.
int inspect_attention(const InspectOptions& look);

// The graph of a training step, for graphviz.
std::string graph_in_dot(const LoadedRun& run);

}  // namespace heed::cli
