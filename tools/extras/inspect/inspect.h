// `heed inspect`: its options, and its parts other than the tree of layers.
#pragma once

#include <filesystem>
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

// Where the graph of a training step goes: `file`.dot and, if graphviz is installed, `file`.svg. A
// suffix .dot or .svg of `file` is ignored.
struct GraphFiles {
  explicit GraphFiles(const std::string& file);
  std::filesystem::path dot, svg;
};

// Writes the graph. Returns the files written.
std::vector<std::string> write_graph(const LoadedRun& run, const GraphFiles& files);

}  // namespace heed::cli
