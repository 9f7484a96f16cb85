#include "layers/positional.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("positional: learned vectors are added by position") {
  Positional layer({3, 2, "learned"});
  set_parameter(layer, "weight", Array::from({3, 2}, {1, 2, 3, 4, 5, 6}));
  const Tensor x = Tensor::parameter(Array::zeros({2, 2, 2}));
  const Tensor y = layer(x);
  check_values(y, {2, 2, 2}, {1, 2, 3, 4, 1, 2, 3, 4});
  y.backward(Array::from({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  check_near(Tensor(layer.weight).grad(), Array::from({3, 2}, {6, 8, 10, 12, 0, 0}));
  check_near(x.grad(), Array::from({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_CASE("positional: sinusoids are those of Vaswani et al.") {
  int64_t compared = 0;
  for (const int64_t d : {1, 2, 5, 16}) {
    Positional layer({9, d, "sinusoidal"});
    CHECK(layer.parameter_count() == 0);
    const Array y = layer(Tensor(Array::zeros({9, d}))).value();
    for (int64_t t = 0; t < 9; ++t) {
      for (int64_t i = 0; 2 * i < d; ++i, ++compared) {
        const double power = static_cast<double>(2 * i) / static_cast<double>(d);
        const double angle = static_cast<double>(t) / std::pow(10000.0, power);
        CHECK(y.data()[t * d + 2 * i] == doctest::Approx(std::sin(angle)).epsilon(1e-6));
        if (2 * i + 1 < d) {
          CHECK(y.data()[t * d + 2 * i + 1] == doctest::Approx(std::cos(angle)).epsilon(1e-6));
        }
      }
    }
  }
  CHECK(compared == 9 * (1 + 1 + 3 + 8));
}

TEST_CASE("positional: drawn as an embedding") {
  const auto layer = layer_of("{type: positional, context_length: 5, d_model: 6}", 7);
  Generator generator(7);
  Array want = Array::uninitialised({5, 6});
  fill_normal(generator, {want.mutable_data(), 30});
  check_same_bits(parameter_of(*layer, "weight"), want);
}
