#include "train/checkpoint/shown_parameters.h"

#include "autograd/base/error.h"
#include "layers/config/text.h"
#include "layers/text/display.h"

namespace heed {

namespace {

// The names of a parameter and of the layers around it: "att.W_query.weight", "att.W_query", "att".
std::vector<std::string> names_of(const std::string& parameter) {
  std::vector<std::string> names{parameter};
  for (size_t dot = parameter.rfind('.'); dot != std::string::npos && dot > 0;
       dot = parameter.rfind('.', dot - 1)) {
    names.push_back(parameter.substr(0, dot));
  }
  return names;
}

}  // namespace

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

std::string mistake_in_shown(const Module& model, const std::string& name) {
  if (!shown_parameters(model, {name}).empty()) {
    return "";
  }
  std::vector<std::string> known;
  for (const NamedParameter& parameter : model.parameters()) {
    const std::vector<std::string> its = names_of(parameter.name);
    known.insert(known.end(), its.begin(), its.end());
  }
  const std::string near = nearest(name, known);
  return text("no parameter or layer is called ", printable(name),
              near.empty() ? "; heed inspect CONFIG lists them" : ", did you mean " + near + "?");
}

}  // namespace heed
