// What everybody expects of a layer, checked for one's own, built in or from outside: fields, named
// parameters, gradients, checkpoints, evaluation, causality, threads, finite numbers. doctest cases
// from it: train/testing.h.
#pragma once

#include <string>
#include <vector>

#include "autograd/check/examine_op.h"
#include "layers/check/layer_check.h"
#include "layers/config/members.h"

namespace heed {

// A layer that is made anew whenever it is needed, and all its options under their usual names.
struct LayerSubject {
  std::string name;
  LayerMaker make;
  ConfigNode options;
  int64_t members = 0;  // of its Config; 0: not known
  int64_t fields = 0;   // that it declares
};

// Everything that was looked at. `shapes` are shapes of x, (B, T, d) or (T, d), or of ids, (B, T)
// or (T), to be tried beside those that follow from the options; with none, the width of x is found
// by trying. The random streams are left as they were. Gradients are compared with differences in
// float64 only.
std::vector<Finding> examine_layer(const LayerSubject& subject,
                                   const std::vector<Shape>& shapes = {});

// A registered layer.
std::vector<Finding> examine_layer(const LayerSpec& spec, const std::vector<Shape>& shapes = {});

// The layer of a line of YAML, {type: causal_attention, d_in: 4, ...}. A config that cannot be read
// is a finding too.
std::vector<Finding> examine_layer(const std::string& config,
                                   const std::vector<Shape>& shapes = {});

// The map that a line of YAML says.
ConfigNode options_from(const std::string& yaml);

// The same for a class that no registry knows; `options` without `type`.
template <class Layer>
std::vector<Finding> examine_layer_class(const std::string& options,
                                         const std::vector<Shape>& shapes = {}) {
  using Config = typename Layer::Config;
  LayerSubject subject{.name = "layer", .make = {}, .options = {}};
  const Finding config = examine("config", [&] {
    ConfigErrors errors;
    Config read;
    const ConfigNode given = options_from(options);
    Fields fields(given, errors);
    fields.run(read);
    errors.throw_if_any();
    subject.make = [read] { return std::make_unique<Layer>(read); };
    subject.options = fields.values();
    subject.fields = static_cast<int64_t>(fields.infos().size());
    subject.members = config_members<Config>();
    return "";
  });
  return subject.make ? examine_layer(subject, shapes) : std::vector<Finding>{config};
}

}  // namespace heed
