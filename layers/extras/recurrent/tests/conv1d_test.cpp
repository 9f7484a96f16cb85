#include "layers/extras/recurrent/conv1d.h"

#include "tests/support/sequence_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("conv1d: first numbers are those of torch.nn.Conv1d") {
  // torch.manual_seed(123); net = torch.nn.Conv1d(2, 4, 3); net.weight[0, 0], net.bias[-1]
  const auto layer = layer_of("{type: conv1d, d_in: 2, d_out: 4}", 123);
  const Array weight = parameter_of(*layer, "weight"), bias = parameter_of(*layer, "bias");
  CHECK(weight.data()[0] == doctest::Approx(-0.166473910).epsilon(1e-6));
  CHECK(weight.data()[2] == doctest::Approx(-0.202760010).epsilon(1e-6));
  CHECK(bias.data()[3] == doctest::Approx(0.291754514).epsilon(1e-6));
}

TEST_CASE("conv1d: by hand, with nothing before the first token and after the last") {
  Conv1d before({.d_in = 1, .d_out = 1, .kernel_size = 3});
  Conv1d both({.d_in = 1, .d_out = 1, .kernel_size = 3, .causal = false});
  for (Conv1d* layer : {&before, &both}) {
    const NoGrad off;
    std::copy_n(std::array<real, 3>{1, 10, 100}.data(), 3, layer->weight.tensor().mutable_value());
    *layer->bias.tensor().mutable_value() = 1000;
  }
  const Tensor x = Array::from({4, 1}, {1, 2, 3, 4});
  check_values(before(x), {4, 1}, {1100, 1210, 1321, 1432});
  check_values(both(x), {4, 1}, {1210, 1321, 1432, 1043});
}

TEST_CASE("conv1d: a mask of pairs hides a token from some of its neighbours only") {
  for (const bool causal : {true, false}) {
    Conv1d layer({.d_in = 2, .d_out = 3, .kernel_size = 3, .causal = causal});
    const Tensor x = values({2, 4, 2});
    const Array y = layer(x).value();
    Mask mask = Mask::full({1, 1, 4, 4}, 1);
    mask.mutable_data()[2 * 4 + 1] = 0;  // token 2 does not see token 1
    const Array masked = layer({x, mask}).value();
    for (int64_t i = 0; i < y.size(); ++i) {
      CHECK((y.data()[i] != masked.data()[i]) == (i / 3 % 4 == 2));
    }
    mask.mutable_data()[3 * 4 + 1] = mask.mutable_data()[1 * 4 + 1] = 0;
    mask.mutable_data()[0 * 4 + 1] = 0;
    check_near(layer({x, mask}).value(),
               layer({x, mask_of({2, 4}, {1, 0, 1, 1, 1, 0, 1, 1})}).value());
  }
}

TEST_CASE("conv1d: token by token, with a cache, equals all tokens at once") {
  for (const int kernel : {1, 2, 3, 5, 9}) {
    const auto layer =
        layer_of(text("{type: conv1d, d_in: 3, d_out: 4, kernel_size: ", kernel, "}"));
    check_parts(*layer, values({6, 3}), {0, 3, 4, 6});
  }
}
