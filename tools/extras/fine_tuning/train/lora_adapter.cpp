#include "tools/extras/fine_tuning/train/lora_adapter.h"

#include <algorithm>
#include <functional>
#include <set>

#include "autograd/graph/graph.h"
#include "tools/extras/fine_tuning/train/freeze.h"

namespace heed {

void LoraAdapter::Config::fields(Fields& f) {
  Size::fields(f);
  f.optional("targets", targets, "patterns of the Linear layers: [\"*W_query\", \"*W_value\"]",
             Length{.min = 1, .max = {}});
  f.optional("modules_to_save", modules_to_save,
             "patterns of layers that are trained whole, such as a new head: [out_head]");
}

namespace {

// `top`, and all layers within it.
std::vector<Module*> layers_of(Module& top) {
  std::vector<Module*> all{&top};
  for (const auto& [name, child] : top.children()) {
    const std::vector<Module*> below = layers_of(*child);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

// Throws ConfigError for a pattern that matches none of these layers.
template <class Layer>
void require_matches(const char* field, const std::vector<std::string>& patterns,
                     const std::vector<Layer*>& layers, const char* what) {
  for (const std::string& pattern : patterns) {
    std::vector<std::string> candidates;  // "trf_blocks.0.att.W_query", "*.W_query"
    bool used = false;
    for (const Layer* const layer : layers) {
      const std::string& path = layer->path();
      used = used || matches_any({pattern}, path);
      candidates.push_back(path);
      candidates.push_back("*" + path.substr(path.rfind('.') + 1));
    }
    if (!used) fail<ConfigError>(field, ": ", none_called(what, pattern, candidates));
  }
}

std::vector<Linear*> linear_layers(Module& model) {
  std::vector<Linear*> all;
  for (Module* const layer : layers_of(model)) {
    auto* const linear = dynamic_cast<Linear*>(layer);
    if (linear != nullptr && linear->parent() != nullptr) all.push_back(linear);
  }
  return all;
}

}  // namespace

void LoraAdapter::add_to(Module& model) const {
  std::vector<Linear*> linears = linear_layers(model);
  require<ConfigError>(!linears.empty(), "the model has no Linear layer to add to");
  const std::vector<Module*> all = layers_of(model);
  require_matches("modules_to_save", config_.modules_to_save, all, "layer");
  std::set<const void*> saved;  // parameters, by identity
  std::set<const Module*> whole;
  for (Module* const layer : all) {
    if (!matches_any(config_.modules_to_save, layer->path())) continue;
    const std::vector<Module*> inside = layers_of(*layer);
    whole.insert(inside.begin(), inside.end());
    layer->for_each_parameter(
        [&](const std::string&, const Parameter& each) { saved.insert(each.identity()); });
  }
  std::erase_if(linears, [&](const Linear* each) { return whole.contains(each); });
  require_matches("targets", config_.targets, linears,
                  whole.empty() ? "Linear layer" : "Linear layer outside of modules_to_save");
  std::multiset<const void*> names;  // of each parameter, by identity
  model.for_each_parameter([&](const std::string&, Parameter& parameter) {
    names.insert(parameter.identity());
    if (!saved.contains(parameter.identity())) parameter.freeze();
  });
  for (Linear* const linear : linears) {
    if (matches_any(config_.targets, linear->path())) {
      require<ConfigError>(names.count(linear->weight.identity()) == 1, "targets: ", linear->path(),
                           " is tied to another layer, which a merged weight would change too; ",
                           "leave it out");
      linear->parent()->replace_child(*linear, std::make_unique<LoraLinear>(*linear, config_));
    }
  }
}

void LoraAdapter::merge_into(Module& model) const {
  const NoGrad off;
  for (Linear* const linear : linear_layers(model)) {
    if (const auto* const adapted = dynamic_cast<const LoraLinear*>(linear)) {
      const Array sum = adapted->lora->product();
      real* const weight = linear->weight.tensor().mutable_value();
      std::transform(weight, weight + sum.size(), sum.data(), weight, std::plus<>());
      linear->parent()->replace_child(*linear, std::make_unique<Linear>(*linear));
    }
  }
}

}  // namespace heed
