// Rotary positions beyond the context that a model was first trained on, as Llama 3.1 has them:
// pairs of elements that turn slowly turn `factor` times more slowly.
//   turns(f) = original_max_position_embeddings f / (2 pi)      within that context, by f a token
//   kept     = (turns - low_freq_factor) / (high_freq_factor - low_freq_factor), from 0 to 1
//   f        = f (kept + (1 - kept) / factor)
// The names are those of transformers (rope_type: llama3).
#pragma once

#include <algorithm>
#include <numbers>

#include "layers/config/fields.h"

namespace heed {

struct RopeScaling {
  double factor = 1;
  double low_freq_factor = 1;
  double high_freq_factor = 4;
  int64_t original_max_position_embeddings = 8192;

  void fields(Fields& f) {
    f.optional("factor", factor, at_least(1), "how much slower the slow ones turn; 1: none does");
    f.optional("low_freq_factor", low_freq_factor, above(0), "turns below which a pair is slow");
    f.optional("high_freq_factor", high_freq_factor, above(0), "turns above which it stays");
    f.optional("original_max_position_embeddings", original_max_position_embeddings, at_least(1),
               "the context in which turns are counted");
  }
  void check(ConfigErrors& errors, const ConfigNode& at) const {
    if (high_freq_factor <= low_freq_factor) {
      errors.add_field(at, "high_freq_factor", "expected more than low_freq_factor ",
                       low_freq_factor, ", got ", high_freq_factor);
    }
    if (factor == 1 && *this != RopeScaling{}) {
      errors.add_field(at, "factor", "expected more than 1: at 1 the others have no effect");
    }
  }

  bool operator==(const RopeScaling&) const = default;

  // An angle from one token to the next, scaled.
  double operator()(double angle) const {
    const double turns =
        static_cast<double>(original_max_position_embeddings) * angle / (2 * std::numbers::pi);
    const double kept =
        std::clamp((turns - low_freq_factor) / (high_freq_factor - low_freq_factor), 0.0, 1.0);
    return factor == 1 ? angle : angle * (kept + (1 - kept) / factor);
  }
};

}  // namespace heed
