// A gpt for probes.
#pragma once

#include "tests/support/layer_cases.h"

namespace heed::testing {

inline const char* const gpt_of_eight =
    "{type: gpt, vocab_size: 8, context_length: 12, d_model: 12, num_heads: 3, num_layers: 2";

inline std::unique_ptr<Module> perturbed(const std::string& yaml) {
  auto layer = layer_of(yaml);
  perturb_parameters(*layer);
  layer->train(false);
  return layer;
}

inline std::unique_ptr<Module> small_gpt(const std::string& more = "") {
  return perturbed(gpt_of_eight + more + "}");
}

}  // namespace heed::testing
