// Whether a loss and gradients are finite. Both functions throw DivergedError.
#pragma once

#include <string>
#include <vector>

#include "layers/module/parameter.h"

namespace heed {

void require_finite(double value, const std::string& what);

// Names the first gradient that is not finite. norm: that of all of them.
void require_finite_gradients(double norm, const std::vector<NamedParameter>& parameters);

}  // namespace heed
