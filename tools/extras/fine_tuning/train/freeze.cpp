#include "tools/extras/fine_tuning/train/freeze.h"

#include "train/step.h"

namespace heed {

std::string mistake_in_freeze(const Module& model, const std::string& pattern) {
  const std::set<const void*> chosen = parameters_matching(model, {pattern});
  bool any_trains = chosen.empty();
  model.for_each_parameter([&](const std::string&, Parameter& parameter) {
    any_trains =
        any_trains || (parameter.tensor().requires_grad() && chosen.contains(parameter.identity()));
  });
  return any_trains ? mistake_in_pattern(model, pattern)
                    : "has no effect with train.lora, which freezes these itself";
}

void freeze(Module& model, const std::vector<std::string>& patterns) {
  if (patterns.empty()) {
    return;
  }
  for (const std::string& pattern : patterns) {
    const std::string mistake = mistake_in_pattern(model, pattern);
    require<ConfigError>(mistake.empty(), "train.freeze: ", mistake);
  }
  const std::set<const void*> frozen = parameters_matching(model, patterns);
  model.for_each_parameter([&](const std::string&, Parameter& parameter) {
    if (frozen.contains(parameter.identity())) parameter.freeze();
  });
  require<ConfigError>(!trained_parameters(model).empty(),
                       "train.freeze: every parameter is frozen, so there is nothing to train");
}

}  // namespace heed
