// What `heed inspect` shows beside the tree of layers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "train/config/run_config.h"

namespace heed::cli {

struct LookAt {
  std::string target;             // a run, or a config: then its model before training
  std::vector<std::string> sets;  // of a config
  std::optional<std::string> prompt;
  bool json = false;
};

// Prints the attention weights of every layer and head for a prompt; returns the exit code.
int inspect_attention(const LookAt& look);

// Writes the graph of a training step as `file`.dot and, where graphviz is there, `file`.svg; an
// ending .dot or .svg of `file` is left aside. Returns what was written.
std::vector<std::string> write_graph(const LoadedRun& run, const std::string& file);

}  // namespace heed::cli
