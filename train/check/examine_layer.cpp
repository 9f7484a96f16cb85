#include "train/check/examine_layer.h"

#include <optional>

#include "layers/module/registry.h"
#include "train/check/examination.h"
#include "train/check/examine_runs.h"
#include "train/config/yaml.h"
#include "train/plugin/plugin.h"

namespace heed {

namespace {

std::string check_fields(const LayerSubject& subject) {
  if (subject.members <= subject.fields) {
    return "";
  }
  return text("its Config has ", subject.members, " members, fields() declares ", subject.fields,
              ": one that is not declared cannot be given in a config; add f.required or "
              "f.optional for it");
}

}  // namespace

ConfigNode options_from(const std::string& yaml) {
  ConfigNode root = parse_config("config: " + yaml + "\n", "config");
  ConfigNode options = root.get("config");
  options.set_path("");
  return options;
}

std::vector<Finding> examine_layer(const LayerSubject& subject, const std::vector<Shape>& shapes) {
  const KeepStreams keep;
  std::vector<Finding> found{examine("fields", [&] { return check_fields(subject); })};
  std::optional<detail::Examination> it;
  found.push_back(examine("construction and first call", [&] {
    it.emplace(subject, shapes);
    return "";
  }));
  if (!found.back().message.empty()) {
    return found;
  }
  const auto look = [&](const char* what, auto check) {
    found.push_back(examine(what, [&] { return check(*it); }));
  };
  look("parameters", detail::check_parameters);
  look("shapes", detail::check_forward);
  if (is_float64) {
    look("gradients", detail::check_gradients_right);
  }
  look("gradients that are missing", detail::check_gradients_arrive);
  look("checkpoint", detail::check_checkpoint);
  look("evaluation", detail::check_evaluation);
  look("causality", detail::check_causality);
  look("threads", detail::check_threads);
  look("finite numbers", detail::check_finite);
  look("inputs", detail::check_inputs);
  look("cache", detail::check_cache);
  return found;
}

std::vector<Finding> examine_layer(const LayerSpec& spec, const std::vector<Shape>& shapes) {
  LayerSubject subject;
  std::vector<Finding> found{examine("config", [&] {
    const ConfigTypes& types = layer_registry().types();
    const ConfigType* type = types.find(spec.type);
    const std::string near = nearest(spec.type, types.names());
    require<ConfigError>(type != nullptr, "there is no layer \"", printable(spec.type), "\"",
                         near.empty() ? "" : ", did you mean " + near + "?");
    subject = {.name = spec.type,
               .make = [&spec] { return make_layer(spec); },
               .options = complete_options(spec),
               .members = config_members_of(spec.type),
               .fields = static_cast<int64_t>(type->fields().size())};
    return "";
  })};
  if (found.back().message.empty()) {
    const std::vector<Finding> more = examine_layer(subject, shapes);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

std::vector<Finding> examine_layer(const std::string& config, const std::vector<Shape>& shapes) {
  LayerSpec spec;
  const Finding read = examine("config", [&] {
    spec.options = options_from(config);
    spec.type = spec.options.get("type").text();
    spec.options.erase("type");
    return "";
  });
  return read.message.empty() ? examine_layer(spec, shapes) : std::vector<Finding>{read};
}

}  // namespace heed
