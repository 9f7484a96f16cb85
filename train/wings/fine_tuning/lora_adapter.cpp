#include "train/wings/fine_tuning/lora_adapter.h"

#include <algorithm>
#include <functional>
#include <set>

#include "autograd/graph/graph.h"
#include "train/wings/fine_tuning/freeze.h"

namespace heed {

void LoraAdapter::Config::fields(Fields& f) {
  Size::fields(f);
  f.optional("targets", targets, "patterns of the Linear layers: [\"*W_query\", \"*W_value\"]",
             Length{.min = 1, .max = {}})
      .also_known_as({"target_modules"});
  f.optional("modules_to_save", modules_to_save,
             "patterns of layers that are trained whole, such as a new head: [out_head]");
}

namespace {

// Calls visit(layer) for each layer within `top`, and for itself.
template <class Visit>
void for_each_layer(Module& top, const Visit& visit) {
  visit(top);
  for (const auto& [name, child] : top.children()) {
    for_each_layer(*child, visit);
  }
}

std::vector<Module*> layers_of(Module& model) {
  std::vector<Module*> all;
  for_each_layer(model, [&](Module& layer) { all.push_back(&layer); });
  return all;
}

// Throws ConfigError for a pattern that matches none of these layers.
void require_matches(const char* field, const std::vector<std::string>& patterns,
                     const std::vector<Module*>& layers, const char* what) {
  for (const std::string& pattern : patterns) {
    std::vector<std::string> candidates;  // "trf_blocks.0.att.W_query", "*.W_query"
    bool used = false;
    for (const Module* const layer : layers) {
      const std::string& path = layer->path();
      used = used || matches_any({pattern}, path);
      candidates.push_back(path);
      candidates.push_back("*" + path.substr(path.rfind('.') + 1));
    }
    if (!used) fail<ConfigError>(field, ": ", none_called(what, pattern, candidates));
  }
}

std::vector<Module*> linear_layers(Module& model) {
  std::vector<Module*> all = layers_of(model);
  std::erase_if(all, [](Module* layer) { return dynamic_cast<Linear*>(layer) == nullptr; });
  return all;
}

}  // namespace

void LoraAdapter::add_to(Module& model) const {
  std::vector<Module*> linears = linear_layers(model);
  require<ConfigError>(!linears.empty(), "the model has no Linear layer to add to");
  require_matches("targets", config_.targets, linears, "Linear layer");
  const std::vector<Module*> all = layers_of(model);
  require_matches("modules_to_save", config_.modules_to_save, all, "layer");
  std::set<const void*> saved;  // parameters, by identity
  std::set<const Module*> whole;
  for (Module* const layer : all) {
    if (!matches_any(config_.modules_to_save, layer->path())) continue;
    for_each_layer(*layer, [&](Module& inner) {
      whole.insert(&inner);
      for (const Parameter* each : inner.own_parameters()) saved.insert(each->identity());
    });
  }
  model.for_each_parameter([&](const std::string&, Parameter& parameter) {
    if (!saved.contains(parameter.identity())) parameter.freeze();
  });
  std::multiset<const void*> names;  // of each parameter, by identity
  model.for_each_parameter(
      [&](const std::string&, Parameter& parameter) { names.insert(parameter.identity()); });
  for (Module* const layer : linears) {
    if (matches_any(config_.targets, layer->path()) && !whole.contains(layer)) {
      auto& linear = dynamic_cast<Linear&>(*layer);
      require<ConfigError>(names.count(linear.weight.identity()) == 1, "targets: ", layer->path(),
                           " is tied to another layer, which a merged weight would change too; ",
                           "leave it out");
      LoraLayer::Config size{config_};
      size.d_in = linear.config.d_in;
      size.d_out = linear.config.d_out;
      linear.add("lora", std::make_unique<LoraLayer>(size));
    }
  }
}

void LoraAdapter::merge_into(Module& model) const {
  const NoGrad off;
  for (Module* const layer : linear_layers(model)) {
    auto& linear = dynamic_cast<Linear&>(*layer);
    if (const auto* const lora = dynamic_cast<const LoraLayer*>(linear.added())) {
      const Array sum = lora->product();
      real* const weight = linear.weight.tensor().mutable_value();
      std::transform(weight, weight + sum.size(), sum.data(), weight, std::plus<>());
      linear.take_off_added();
    }
  }
}

}  // namespace heed
