#include "layers/activation.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("activation layers: values") {
  const Tensor x(Array::from({3}, {-1, 0, 2}));
  const auto activated = [&](const std::string& type) {
    return (*layer_of("{type: " + type + "}"))(x);
  };
  check_values(activated("relu"), {3}, {0, 0, 2});
  check_values(activated("relu2"), {3}, {0, 0, 4});
  check_values(activated("gelu"), {3}, {real(-0.15865525393145707), 0, real(1.9544997361036416)});
  check_values(activated("gelu_tanh"), {3}, {real(-0.15880800939), 0, real(1.95459769409)}, 1e-6);
  check_values(activated("silu"), {3}, {real(-0.2689414213699951), 0, real(1.7615941559557649)});
}

TEST_CASE("activation layers: no parameters, any shape") {
  for (const std::string type : {"gelu_tanh", "gelu", "relu", "relu2", "silu"}) {
    const auto layer = layer_of("{type: " + type + "}");
    CHECK(layer->parameter_count() == 0);
    CHECK((*layer)(Tensor(values({2, 3, 4}))).shape() == Shape{2, 3, 4});
  }
}
