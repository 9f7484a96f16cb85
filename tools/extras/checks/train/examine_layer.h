// Checks every property that a layer must have, for built-in layers and your own: named
// parameters, gradients, checkpoints, evaluation mode, causality, thread counts, finite results.
// tools/extras/checks/train/testing.h wraps these checks for doctest.
#pragma once

#include <string>
#include <vector>

#include "layers/config/read.h"
#include "tools/extras/checks/train/examine_op.h"
#include "tools/extras/checks/train/layer_gradients.h"

namespace heed {

// The layer under test.
struct LayerSubject {
  std::string name;
  LayerMaker make;
};

// Runs all checks and returns one Finding per check. `shapes` are shapes of x, (B, T, d) or (T, d),
// or of ids, (B, T) or (T). They are tested in addition to those that follow from the layer's
// signature. The random streams are restored afterwards.
// Gradients are compared with central differences in float64 builds only.
std::vector<Finding> examine_layer(const LayerSubject& subject,
                                   const std::vector<Shape>& shapes = {});

// A registered layer. Throws ConfigError for an unknown type.
std::vector<Finding> examine_layer(const LayerChoice& choice,
                                   const std::vector<Shape>& shapes = {});

// A layer given as a line of YAML: {type: causal_attention, d_in: 4, ...}. An invalid config is
// reported as a finding.
std::vector<Finding> examine_layer(const std::string& config,
                                   const std::vector<Shape>& shapes = {});

// Parses one YAML map.
ConfigNode options_from(const std::string& yaml);
// Reads {type: NAME, ...}. Throws ConfigError.
Choice choice_from(const std::string& kind, const std::string& yaml);

// The same for an unregistered class. `options` is a YAML map without `type`.
template <class Layer>
std::vector<Finding> examine_layer_class(const std::string& options,
                                         const std::vector<Shape>& shapes = {}) {
  using Config = typename Layer::Config;
  LayerSubject subject{.name = "layer", .make = {}};
  const Finding config = examine("config", [&] {
    const Config read = read_fields<Config>(options_from(options));
    subject.make = [read] { return std::make_unique<Layer>(read); };
    return "";
  });
  return subject.make ? examine_layer(subject, shapes) : std::vector<Finding>{config};
}

}  // namespace heed
