// Gradient checks of whole layers, for any registered type: every parameter and x, with dropout on,
// for batches and single sequences, and with padding masks where the layer looks at masks.
// In float64 only, as gradcheck.
#pragma once

#include <string>
#include <vector>

#include "autograd/check/gradcheck.h"
#include "layers/module/module.h"

namespace heed {

struct LayerCheck {
  std::string layer;    // the type
  std::string options;  // what differs from the example config: "bias: false"; "" for the example
  std::string input;    // "x (2, 5, 4), mask (2, 5)"
  int64_t compared = 0;
  double worst = 0;  // the largest relative error
  bool passed = false;
  std::string message;  // what is wrong, "" if nothing
};

struct LayerCheckOptions {
  double tolerance = 1e-6;
  int64_t sample = 512;  // elements compared of a parameter
  int64_t tokens = 5;    // at most: no more than context_length
  int64_t width = 0;     // of x; 0: found by trying
};

// The layer as it is described, one LayerCheck for each kind of input. Parameters are the initial
// ones, moved a little so that no 0 or 1 hides a mistake. The random streams are left as they were.
std::vector<LayerCheck> check_gradients(const LayerSpec& spec,
                                        const LayerCheckOptions& options = {});

// The same for a layer that no registry knows. `make` builds it anew at every call; `config` holds
// its sizes under the usual names: d_in or d_model, vocab_size, context_length.
using LayerMaker = std::function<std::unique_ptr<Module>()>;
std::vector<LayerCheck> check_gradients(const std::string& name, const LayerMaker& make,
                                        const ConfigNode& config,
                                        const LayerCheckOptions& options = {});

// A registered type by its example config (see FieldInfo::example), then once for every other value
// of each option, then with all options changed together.
std::vector<LayerCheck> check_gradients_of_type(const std::string& type,
                                                const LayerCheckOptions& options = {});

}  // namespace heed
