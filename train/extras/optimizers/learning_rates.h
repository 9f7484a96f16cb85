// optimizer.rates: learning rates by patterns of parameters, as factors.
//   optimizer: {lr: 1e-3, rates: {"tok_emb.*": 0.1, "*.bias": 2}}
#pragma once

#include "layers/config/section_keys.h"
#include "train/run_hooks.h"

namespace heed {

struct RateKeys {
  NamedNumbers rates;  // by pattern (parameter_patterns.h)

  void fields(Fields& f) {
    f.optional(
        "rates", rates, at_least(0),
        "factors of the learning rate, by patterns of parameters; the last that fits counts");
  }
};
HEED_KEYS(RateKeys, "optimizer");

// Gives parameters their rates. Registered under a name behind that of "fine_tuning", whose new
// parameters have rates too.
class LearningRates final : public RunHooks {
 public:
  static constexpr const char* help = "learning rates by patterns of parameters";
  using Config = NoFields;

  explicit LearningRates(const Config& = {}) {}

  // Adds a mistake for a pattern that no parameter matches or that has no effect, if nothing is
  // trained, and for a pattern of Muon's that no matrix matches.
  void prepare(Module& model, const LoadedRun& run, ConfigErrors& errors) const override;
};
HEED_RUN_HOOKS(LearningRates, "learning_rates");

}  // namespace heed
