#include "train/extras/optimizers/parameter_patterns.h"

#include <fnmatch.h>

#include <algorithm>

#include "layers/config/text.h"

namespace heed {

namespace {

bool matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
}

}  // namespace

bool matches_any(const std::vector<std::string>& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches(pattern, name); });
}

std::set<const void*> parameters_matching(const Module& model,
                                          const std::vector<std::string>& patterns) {
  std::set<const void*> found;
  model.for_each_parameter([&](const std::string& name, const Parameter& parameter) {
    if (matches_any(patterns, name)) found.insert(parameter.identity());
  });
  return found;
}

std::string none_called(const char* what, const std::string& pattern,
                        const std::vector<std::string>& candidates) {
  return text("no ", what, " is called ", printable(pattern),
              did_you_mean(pattern, candidates, "; heed inspect CONFIG lists them"));
}

std::string mistake_in_pattern(const Module& model, const std::string& pattern) {
  bool used = false;
  std::vector<std::string> candidates;  // "att.W_query.weight", "att.W_query.*", "att.*"
  model.for_each_parameter([&](const std::string& name, const Parameter&) {
    used = used || matches(pattern, name);
    candidates.push_back(name);
    for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
      candidates.push_back(name.substr(0, dot) + ".*");
    }
  });
  return used ? "" : none_called("parameter", pattern, candidates);
}

}  // namespace heed
