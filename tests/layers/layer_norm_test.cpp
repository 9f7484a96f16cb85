#include "layers/layer_norm.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("layer_norm layer: mean 0 and variance 1, then scale and shift") {
  LayerNorm layer({3});
  check_near(parameter_of(layer, "scale"), Array::full({3}, 1));
  check_near(parameter_of(layer, "shift"), Array::zeros({3}));
  const real r = std::sqrt(real(1.5));
  check_values(layer(Tensor(Array::from({1, 3}, {1, 2, 3}))), {1, 3}, {-r, 0, r}, 1e-4);
  set_parameter(layer, "scale", Array::from({3}, {2, 1, 1}));
  set_parameter(layer, "shift", Array::from({3}, {0, 5, 1}));
  check_values(layer(Tensor(Array::from({3}, {1, 2, 3}))), {3}, {-2 * r, 5, r + 1}, 1e-4);
}

TEST_CASE("layer_norm layer: eps") {
  const Tensor x(Array::from({1, 2}, {-1, 1}));  // variance 1: 1 / sqrt(1 + eps)
  check_values((*layer_of("{type: layer_norm, d_model: 2, eps: 3}"))(x), {1, 2}, {-0.5, 0.5});
}
