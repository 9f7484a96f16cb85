// eval.gradients: norms by parameter, at each evaluation.
#pragma once

#include "layers/config/section_keys.h"

namespace heed {

struct GradientKeys {
  bool gradients = false;

  void fields(Fields& f) {
    f.optional("gradients", gradients,
               "true: norms of gradient, weights and update of each parameter, in gradients.csv");
  }
  void check(ConfigErrors& errors, const ConfigNode& at) const {
    if (gradients && !at.has("every")) {
      errors.add_field(at, "gradients",
                       "true without eval.every is never seen; give eval.every too");
    }
  }
};
HEED_KEYS(GradientKeys, "eval");

}  // namespace heed
