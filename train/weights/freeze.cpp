#include "train/weights/freeze.h"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>

#include "layers/config/text.h"

namespace heed {

namespace {

bool matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
}

// Calls visit(name, parameter) for every parameter under each of its names.
template <class Visit>
void for_each_name(const Module& layer, const std::string& prefix, const Visit& visit) {
  for (Parameter* parameter : layer.own_parameters()) {
    visit(prefix + parameter->name(), *parameter);
  }
  for (const auto& [name, child] : layer.children()) {
    for_each_name(*child, prefix + name + ".", visit);
  }
}

}  // namespace

bool matches_any(const std::vector<std::string>& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches(pattern, name); });
}

void freeze(Module& model, const std::vector<std::string>& patterns) {
  if (patterns.empty()) {
    return;
  }
  std::vector<std::string> names;
  std::set<const void*> frozen;  // by identity, which tied parameters share
  for_each_name(model, "", [&](const std::string& name, const Parameter& parameter) {
    names.push_back(name);
    if (matches_any(patterns, name)) {
      frozen.insert(parameter.identity());
    }
  });
  for (const std::string& pattern : patterns) {
    const bool used = std::any_of(names.begin(), names.end(),
                                  [&](const std::string& name) { return matches(pattern, name); });
    const std::string near = nearest(pattern, names);
    require<ConfigError>(
        used, "train.freeze: no parameter is called ", printable(pattern),
        near.empty() ? "; heed inspect CONFIG lists them" : ", did you mean " + near + "?");
  }
  for_each_name(model, "", [&](const std::string&, Parameter& parameter) {
    if (frozen.contains(parameter.identity())) {
      parameter.freeze();
    }
  });
  require<ConfigError>(!trained_parameters(model).empty(),
                       "train.freeze: every parameter is frozen, so there is nothing to train");
}

std::vector<NamedParameter> trained_parameters(const Module& model) {
  std::vector<NamedParameter> all = model.parameters();
  std::erase_if(all, [](const NamedParameter& each) { return !each.tensor.requires_grad(); });
  return all;
}

}  // namespace heed
