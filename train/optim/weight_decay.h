// Weight decay, as the optimizers share it.
#pragma once

#include <string>

#include "autograd/graph/tensor.h"

namespace heed {

// True if weight decay applies to the parameter. `rule` is "matrices" (two or more axes, as in
// nanoGPT) or "all" (as in PyTorch).
bool decays(const std::string& rule, const Tensor& parameter);

// A warning for Optimizer::warning(), or "": about a rule without decay, and about a decay that
// takes weights to 0 or beyond in one step. lr: the learning rate, where a step multiplies weights
// by 1 - lr weight_decay; 0 where it does not.
std::string decay_warning(const std::string& rule, double weight_decay, double lr);

}  // namespace heed
