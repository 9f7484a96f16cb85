#include "train/extras/optimizers/learning_rates.h"

#include "layers/text/display.h"
#include "train/extras/optimizers/parameter_patterns.h"

namespace heed {

namespace {

bool fits_a_matrix(const Module& model, const std::string& pattern) {
  const std::set<const void*> chosen = parameters_matching(model, {pattern});
  bool found = false;
  model.for_each_parameter([&](const std::string&, Parameter& parameter) {
    found = found || (parameter.tensor().rank() == 2 && chosen.contains(parameter.identity()));
  });
  return found;
}

}  // namespace

void LearningRates::prepare(Module& model, const LoadedRun& run, ConfigErrors& errors) const {
  const Choice& optimizer = run.config.optimizer;
  if (run.config.purpose != Purpose::train) return;
  const ConfigNode& section = run.resolved.get("optimizer");
  if (const auto* const rates = optimizer.find<NamedNumbers>("rates")) {
    for (const auto& [pattern, factor] : *rates) {
      const std::string mistake = mistake_in_pattern(model, pattern);
      if (!mistake.empty()) errors.add(section.get("rates").get(pattern), mistake);
      const std::set<const void*> chosen = parameters_matching(model, {pattern});
      model.for_each_parameter([&, rate = factor](const std::string&, Parameter& parameter) {
        if (chosen.contains(parameter.identity())) parameter.rate = rate;
      });
    }
  }
  const auto* const matrices = optimizer.find<std::vector<std::string>>("matrices");
  if (optimizer.type() != "muon" || matrices == nullptr) return;
  for (const ConfigNode& pattern : section.get("matrices").children()) {
    const std::string mistake = mistake_in_pattern(model, pattern.text());
    if (!mistake.empty()) {
      errors.add(pattern, mistake);
    } else if (!fits_a_matrix(model, pattern.text())) {
      errors.add(pattern, "no parameter called ", printable(pattern.text()),
                 " is a matrix, and Muon trains matrices alone");
    }
  }
}

}  // namespace heed
