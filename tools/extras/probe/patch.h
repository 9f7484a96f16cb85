// Activation patching: which activations of a clean run, put into a corrupt one, bring its answer
// back. Meng et al. 2022, "Locating and Editing Factual Associations in GPT"; Wang et al. 2022,
// "Interpretability in the Wild".
//   m        the logit of the answer at the last position, or its difference to that of a wrong one
//   share    (m_patched - m_corrupt) / (m_clean - m_corrupt): 1 all is restored, 0 nothing
#pragma once

#include <vector>

#include "tools/extras/report/parts.h"

namespace heed::probe {

struct Patches {
  double clean = 0, corrupt = 0;  // m
  // Shares by block and position: the residual stream after the block, what its attention adds,
  // what its feed-forward adds (an empty row with feed_forward: none).
  std::vector<std::vector<double>> residual, attention, feed_forward;
  // Shares by block and head: z of the head at all positions.
  std::vector<std::vector<double>> heads;
};

// Inputs of batch one and the same length, that differ in their ids. Throws ConfigError for a model
// without blocks, one that reads two sequences or attention that offers no heads, and if both runs
// have the same m.
Patches patch(Module& model, const Input& clean, const Input& corrupt, const Measure& measure);

}  // namespace heed::probe
