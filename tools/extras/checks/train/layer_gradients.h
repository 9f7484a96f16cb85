// Gradient checks of whole layers: every parameter, x and context, with dropout on, for batches and
// single sequences, and with padding masks if the layer uses masks. Requires float64, as gradcheck
// does.
#pragma once

#include <string>
#include <vector>

#include "layers/module/module.h"
#include "train/check/gradients/gradcheck.h"

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
  int64_t sample = 512;  // elements of each tensor compared one by one
  int64_t tokens = 5;    // length of x, or context_length if that is smaller
  int64_t width = 0;     // of x, if the layer takes any; 0: 4
};

// Checks the layer with these options; returns one LayerCheck for each form of input. It passes if
// it does so for three seeds. Parameters are the initial ones plus small random numbers, since
// values of 0 or 1 can hide an error. The random streams are restored.
std::vector<LayerCheck> check_gradients(const LayerChoice& choice,
                                        const LayerCheckOptions& options = {});

// The same for a layer that is not registered. `make` returns a new instance at every call.
using LayerMaker = std::function<std::unique_ptr<Module>()>;
std::vector<LayerCheck> check_gradients(const std::string& name, const LayerMaker& make,
                                        const LayerCheckOptions& options = {});

// Checks a registered type with its example config (see FieldInfo::example), then once for every
// other value of each option, then with all options changed together. Throws ConfigError.
std::vector<LayerCheck> check_gradients_of_type(const std::string& type,
                                                const LayerCheckOptions& options = {});

}  // namespace heed
