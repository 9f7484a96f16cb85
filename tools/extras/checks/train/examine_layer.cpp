#include "tools/extras/checks/train/examine_layer.h"

#include <optional>

#include "layers/module/registry.h"
#include "tools/extras/checks/train/examination.h"
#include "tools/extras/checks/train/examine_runs.h"
#include "train/yaml/yaml.h"

namespace heed {

ConfigNode options_from(const std::string& yaml) {
  ConfigNode root = parse_config("config: " + yaml + "\n", "config");
  ConfigNode options = root.get("config");
  options.set_path("");
  return options;
}

Choice choice_from(const std::string& kind, const std::string& yaml) {
  ConfigNode options = options_from(yaml);
  const std::string type = options.get("type").text();
  options.erase("type");
  fill_types(kind);
  const ConfigTypes& types = config_types(kind);
  require<ConfigError>(types.find(type) != nullptr, "unknown ", kind, " ", printable(type),
                       did_you_mean(type, types.names()),
                       " (a header of your own counts if heedgrad_add_plugin lists it)");
  return read_options(kind, type, options);
}

std::vector<Finding> examine_layer(const LayerSubject& subject, const std::vector<Shape>& shapes) {
  const KeepStreams keep;
  std::optional<detail::Examination> it;
  std::vector<Finding> found{examine("construction and first call", [&] {
    it.emplace(subject, shapes);
    return "";
  })};
  const auto look = [&](const char* what, auto check) {
    found.push_back(examine(what, [&] { return check(*it); }));
    return found.back().message.empty();
  };
  // The other checks would fail as well, with messages that lead astray.
  if (!it || !look("number of tokens", detail::check_length) ||
      !look("threads", detail::check_threads)) {
    return found;
  }
  look("parameters", detail::check_parameters);
  look("shapes", detail::check_forward);
  if (is_float64) {
    look("gradients", detail::check_gradients_right);
  }
  look("gradients that are missing", detail::check_gradients_arrive);
  look("checkpoint", detail::check_checkpoint);
  const bool causal = look("causality", detail::check_causality);
  look("masks", detail::check_masks);
  if (causal) look("padding", detail::check_padding);  // else what comes later counts, hidden too
  look("batch", detail::check_batch);
  look("evaluation", detail::check_evaluation);
  look("finite numbers", detail::check_finite);
  look("inputs", detail::check_inputs);
  look("cache", detail::check_cache);
  return found;
}

std::vector<Finding> examine_layer(const LayerChoice& choice, const std::vector<Shape>& shapes) {
  const ConfigType& type = layer_registry().types().get(choice.type());
  return examine_layer({.name = type.name, .make = [&choice] { return make_layer(choice); }},
                       shapes);
}

std::vector<Finding> examine_layer(const std::string& config, const std::vector<Shape>& shapes) {
  LayerChoice choice;
  std::vector<Finding> found{examine("config", [&] {
    choice = choice_from("layer", config);
    return "";
  })};
  if (found.back().message.empty()) {
    const std::vector<Finding> more = examine_layer(choice, shapes);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

}  // namespace heed
