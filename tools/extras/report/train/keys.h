// eval.probe: what the report records of the model at each evaluation.
#pragma once

#include <string>

#include "layers/config/section_keys.h"

namespace heed {

struct ProbeKeys {
  std::string probe = "none";

  void fields(Fields& f) {
    f.choice("probe", probe, {"none", "heads"},
             "heads: what each attention head attends to, as `heed probe` says, in the report");
  }
  void check(ConfigErrors& errors, const ConfigNode& at) const {
    if (probe != "none" && !at.has("every")) {
      errors.add_field(at, "probe", probe,
                       " without eval.every is never seen; give eval.every too");
    }
  }
};
HEED_KEYS(ProbeKeys, "eval");

}  // namespace heed
