#include "layers/rms_norm.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("rms_norm layer: root mean square 1, then scale") {
  RmsNorm layer({2});
  check_near(parameter_of(layer, "scale"), Array::full({2}, 1));
  const real r = 1 / std::sqrt(real(12.5));
  check_values(layer(Tensor(Array::from({1, 2}, {3, 4}))), {1, 2}, {3 * r, 4 * r}, 1e-5);
  set_parameter(layer, "scale", Array::from({2}, {2, -1}));
  check_values(layer(Tensor(Array::from({2}, {3, 4}))), {2}, {6 * r, -4 * r}, 1e-5);
}

TEST_CASE("rms_norm layer: eps") {
  const Tensor x(Array::from({1, 2}, {-1, 1}));  // mean square 1
  check_values((*layer_of("{type: rms_norm, d_model: 2, eps: 3}"))(x), {1, 2}, {-0.5, 0.5});
}
