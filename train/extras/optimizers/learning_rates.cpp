#include "train/extras/optimizers/learning_rates.h"

#include <algorithm>
#include <map>

#include "layers/text/display.h"
#include "train/extras/optimizers/parameter_patterns.h"

namespace heed {

namespace {

// Whether a pattern fits a matrix that is trained.
bool fits_a_matrix(const Module& model, const std::string& pattern) {
  const std::set<const void*> chosen = parameters_matching(model, {pattern});
  bool found = false;
  model.for_each_parameter([&](const std::string&, Parameter& parameter) {
    found = found || (parameter.tensor().rank() == 2 && parameter.tensor().requires_grad() &&
                      chosen.contains(parameter.identity()));
  });
  return found;
}

// What the patterns make of a parameter.
struct Rated {
  bool is_trained = false;
  double rate = 1;
  const std::string* by = nullptr;  // the pattern that counts
};

// Why a pattern changes nothing; "" for one that does.
std::string why_without_effect(const std::map<const void*, Rated>& all,
                               const std::set<const void*>& fits, const std::string& pattern,
                               bool is_new) {
  const auto any = [&](const auto& is) {
    return std::any_of(fits.begin(), fits.end(),
                       [&](const void* each) { return is(all.at(each)); });
  };
  return !any([](const Rated& each) { return each.is_trained; })
             ? "no parameter that it fits is trained"
         : !any([&](const Rated& each) { return each.by == &pattern; })
             ? "patterns behind it fit all its parameters"
         : !is_new ? "its parameters have this factor without it"
                   : "";
}

// Adds the mistakes in patterns, those without effect among them.
void set_rates(Module& model, const NamedNumbers& rates, const ConfigNode& at,
               ConfigErrors& errors) {
  std::map<const void*, Rated> all;
  model.for_each_parameter([&](const std::string&, Parameter& parameter) {
    all[parameter.identity()].is_trained = parameter.tensor().requires_grad();
  });
  const int64_t before = errors.count();
  std::set<std::string> effective;
  for (const auto& each : rates) {
    const std::string mistake = mistake_in_pattern(model, each.first);
    if (!mistake.empty()) errors.add(at.get(each.first), mistake);
    for (const void* const parameter : parameters_matching(model, {each.first})) {
      Rated& rated = all.at(parameter);
      if (rated.is_trained && rated.rate != each.second) effective.insert(each.first);
      rated.rate = each.second;
      rated.by = &each.first;
    }
  }
  model.for_each_parameter([&](const std::string&, Parameter& parameter) {
    parameter.rate = all.at(parameter.identity()).rate;
  });
  if (errors.count() > before) return;
  for (const auto& each : rates) {
    const std::string why = why_without_effect(all, parameters_matching(model, {each.first}),
                                               each.first, effective.contains(each.first));
    if (!why.empty()) {
      errors.add(at.get(each.first), each.second, " has no effect: ", why, "; leave it out");
    }
  }
  const bool trains = std::any_of(all.begin(), all.end(), [](const auto& each) {
    return each.second.is_trained && each.second.rate > 0;
  });
  if (!trains) errors.add(at, "expected a factor above 0 for a parameter that is trained");
}

}  // namespace

void LearningRates::prepare(Module& model, const LoadedRun& run, ConfigErrors& errors) const {
  const Choice& optimizer = run.config.optimizer;
  if (run.config.purpose != Purpose::train) return;
  const ConfigNode& section = run.resolved.get("optimizer");
  const auto* const rates = optimizer.find<NamedNumbers>("rates");
  if (rates != nullptr && !rates->empty()) {
    set_rates(model, *rates, section.get("rates"), errors);
  }
  const auto* const matrices = optimizer.find<std::vector<std::string>>("matrices");
  if (optimizer.type() != "muon" || matrices == nullptr) return;
  for (const ConfigNode& pattern : section.get("matrices").children()) {
    const std::string mistake = mistake_in_pattern(model, pattern.text());
    if (!mistake.empty()) {
      errors.add(pattern, mistake);
    } else if (!fits_a_matrix(model, pattern.text())) {
      errors.add(pattern, "no parameter called ", printable(pattern.text()),
                 " is a matrix that is trained, and Muon trains matrices alone");
    }
  }
}

}  // namespace heed
