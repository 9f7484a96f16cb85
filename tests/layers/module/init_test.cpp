#include "layers/module/init.h"

#include "autograd/array/storage.h"
#include "tests/support/near.h"

using namespace heed;
using namespace heed::testing;

namespace {

template <class Init>
Array drawn(const Shape& shape, Init&& fill) {
  manual_seed(123);
  Array a = Array::full(shape, 7);
  fill(a);
  return a;
}

}  // namespace

TEST_CASE("init: constants draw nothing") {
  check_same_bits(drawn({5}, init::zeros), Array::zeros({5}));
  check_same_bits(drawn({5}, init::ones), Array::full({5}, 1));
  CHECK(streams().init().state() == Generator(123).state());
}

TEST_CASE("init: torch.manual_seed(123); torch.rand(6)") {
  check_near(drawn({6}, init::rand),
             Array::from({6}, {real(0.29611194), real(0.51656228), real(0.25167078),
                               real(0.68855679), real(0.07397246), real(0.86652195)}),
             1e-7);
}

TEST_CASE("init: bounds are those of torch.nn.Linear and xavier_uniform_") {
  const Array unit = drawn({4, 6}, [](Array& a) { init::uniform(a, -1, 1); });
  const auto scaled = [&](double bound) {
    Array a = unit.clone();
    for (int64_t i = 0; i < a.size(); ++i) a.mutable_data()[i] *= static_cast<real>(bound);
    return a;
  };
  CHECK(check_near(drawn({4, 6}, init::linear_weight), scaled(1 / std::sqrt(6.0)), 1e-7) == 24);
  const Array bias = drawn({4, 6}, [](Array& a) { init::linear_bias(a, 9); });
  CHECK(check_near(bias, scaled(1.0 / 3), 1e-7) == 24);
  CHECK(check_near(drawn({4, 6}, init::xavier_uniform), scaled(std::sqrt(6.0 / 10)), 1e-7) == 24);
}

TEST_CASE("init: normal numbers, moved and scaled") {
  const Array unit = drawn({40}, init::embedding);
  Array want = unit.clone();
  for (int64_t i = 0; i < 40; ++i) want.mutable_data()[i] = 3 + want.data()[i] / 2;
  CHECK(check_near(drawn({40}, [](Array& a) { init::normal(a, 3, 0.5); }), want, 1e-6) == 40);
}

TEST_CASE("init: a dry run draws nothing and writes nothing") {
  const GeneratorState before = Generator(123).state();
  manual_seed(123);
  const DryRun dry;
  Array a = Array::uninitialised({4, 6});
  init::zeros(a);
  init::ones(a);
  init::rand(a);
  init::embedding(a);
  init::linear_weight(a);
  init::linear_bias(a, 6);
  init::xavier_uniform(a);
  CHECK(streams().init().state() == before);
}
