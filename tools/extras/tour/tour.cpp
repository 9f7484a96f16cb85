#include <iterator>

#include "tools/extras/tour/steps.h"

namespace heed::tour {

namespace {

std::vector<Step> joined(std::initializer_list<std::vector<Step> (*)()> parts) {
  std::vector<Step> steps;
  for (auto part : parts) {
    std::vector<Step> more = part();
    std::move(more.begin(), more.end(), std::back_inserter(steps));
  }
  return steps;
}

}  // namespace

std::vector<Step> all_steps() {
  return joined({translation_steps, simple_steps, trainable_steps, causal_steps, multi_head_steps,
                 cost_steps, ladder_steps, block_steps, language_steps, gradient_steps});
}

std::vector<Step> backward_steps() { return joined({backward_parts, planted_mistakes}); }

}  // namespace heed::tour
