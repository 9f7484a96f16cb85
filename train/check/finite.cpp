#include "train/check/finite.h"

#include <cmath>

#include "autograd/array/reduce.h"

namespace heed {

void require_finite(double value, const std::string& what) {
  if (!std::isfinite(value)) {
    fail<DivergedError>("the ", what, " is ", std::isnan(value) ? "NaN" : "infinite");
  }
}

void require_finite_gradients(double norm, const std::vector<NamedParameter>& parameters) {
  if (std::isfinite(norm)) {
    return;
  }
  for (const NamedParameter& parameter : parameters) {
    const Array g = parameter.tensor.grad();
    require<DivergedError>(!g || all_finite(g), "the gradient of ", parameter.name,
                           " is not finite");
  }
  require_finite(norm, "norm of the gradients");  // gradients are finite, but the norm overflows
}

}  // namespace heed
