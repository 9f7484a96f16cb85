// Attribution patching: what activation patching (tools/extras/probe/patch.h) would restore, from
// two forward passes and one backward pass. Nanda 2023; Syed et al. 2023, "Attribution Patching
// Outperforms Automated Circuit Discovery".
//   estimate   sum of (a_clean - a_corrupt) . (d m / d a at the corrupt run)
//              / (m_clean - m_corrupt)
// It is the share that patching measures, if m were linear in the activation.
#pragma once

#include "tools/extras/probe/patch.h"

namespace heed::gradients {

// The shares of probe::patch(), with the same inputs, estimated. `clean` and `corrupt` of the
// result are those measured.
probe::Patches estimate(Module& model, const Input& clean, const Input& corrupt,
                        const probe::Measure& measure);

// A share that patching measures, and what was estimated.
struct Pair {
  std::string part;  // residual, attention, feed_forward, head
  int64_t block = 0;
  std::optional<int64_t> position, head;
  double value = 0, estimate = 0;
};
std::vector<Pair> pairs_of(const probe::Patches& measured, const probe::Patches& estimated);
// Pearson's, of heads and feed-forwards whose pairs are not both 0; none if one of both is
// constant.
std::optional<double> correlation(const std::vector<Pair>& pairs);

}  // namespace heed::gradients
