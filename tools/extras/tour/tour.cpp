#include <iterator>

#include "tools/extras/tour/steps.h"

namespace heed::tour {

std::vector<Step> all_steps() {
  std::vector<Step> steps;
  for (auto part :
       {translation_steps, simple_steps, trainable_steps, causal_steps, multi_head_steps,
        cost_steps, ladder_steps, block_steps, language_steps, gradient_steps}) {
    std::vector<Step> more = part();
    std::move(more.begin(), more.end(), std::back_inserter(steps));
  }
  return steps;
}

}  // namespace heed::tour
