#include "tools/extras/inspect/train/shown_parameters.h"

#include "autograd/base/error.h"
#include "layers/config/text.h"
#include "layers/text/display.h"

namespace heed {

std::vector<NamedParameter> shown_parameters(const Module& model,
                                             const std::vector<std::string>& names) {
  const std::vector<NamedParameter> all = model.parameters();
  std::vector<NamedParameter> shown;
  for (const std::string& name : names) {
    for (const NamedParameter& parameter : all) {
      if (parameter.name == name || parameter.name.starts_with(name + ".")) {
        shown.push_back(parameter);
      }
    }
  }
  return shown;
}

namespace {

// What is wrong with a name that chooses nothing, with the nearest one.
std::string mistake_in(const Module& model, const std::string& name) {
  std::vector<std::string> known;  // of parameters and the layers around: "att.W_query", "att"
  for (const NamedParameter& parameter : model.parameters()) {
    std::string part = parameter.name;
    for (size_t end = part.size(); end != std::string::npos; end = part.rfind('.')) {
      part.resize(end);
      known.push_back(part);
    }
  }
  return text("no parameter or layer is called ", printable(name),
              did_you_mean(name, known, "; heed inspect CONFIG lists them"));
}

}  // namespace

void ShownNames::prepare(Module& model, const LoadedRun& run, ConfigErrors& errors) const {
  if (run.config.purpose != Purpose::train) return;
  for (const ConfigNode& name : run.resolved.get("train").get("show").children()) {
    if (shown_parameters(model, {name.text()}).empty()) {
      errors.add(name, mistake_in(model, name.text()));
    }
  }
}

}  // namespace heed
