// What is said about a small config with mistakes.
#pragma once

#include <string>
#include <vector>

#include "tests/support/training_run.h"

namespace heed::testing {

// The lines about a config and --set arguments, without the folder's name; "no error".
inline std::string lines_of(const std::string& config, const std::vector<std::string>& sets = {}) {
  const TempDir folder;
  const std::string file = write_config(folder, config);
  std::string lines = "no error";
  try {
    load_run(read_run_tree(file, sets), folder.path());
  } catch (const Error& error) {
    lines = error.what();
  }
  const std::string path = folder.path().string() + "/";
  for (size_t at; (at = lines.find(path)) != std::string::npos;) lines.erase(at, path.size());
  return lines;
}

inline const std::string sections = R"(data: {type: text, path: text.txt, train_fraction: 0.8}
model: {type: gpt, context_length: 8, d_model: 12, num_heads: 3, num_layers: 1}
train: {steps: 12, batch_size: 4}
)";

}  // namespace heed::testing
