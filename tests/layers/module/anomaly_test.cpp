#include "layers/module/anomaly.h"

#include "autograd/array/reduce.h"
#include "autograd/graph/layer_scope.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/log.h"
#include "autograd/ops/sqrt.h"
#include "autograd/ops/sum.h"
#include "tests/support/near.h"

using namespace heed;
using namespace heed::testing;

namespace {

struct AnomalyMode {
  AnomalyMode() { set_anomaly_mode(true); }
  ~AnomalyMode() { set_anomaly_mode(false); }
};

}  // namespace

TEST_CASE("anomaly: names the op, the layer and the element of the first bad value") {
  const AnomalyMode on;
  const LayerScope scope("trf_blocks.0.att");
  CHECK_THROWS_WITH_AS(
      log(Array::from({2, 2}, {1, 2, 0, 3})),
      "anomaly: log in trf_blocks.0.att made infinity at element 2 of shape (2, 2)", DivergedError);
  CHECK_THROWS_WITH_AS(sqrt(Array::from({2}, {1, -1})),
                       "anomaly: sqrt in trf_blocks.0.att made NaN at element 1 of shape (2,)",
                       DivergedError);
}

TEST_CASE("anomaly: names the op and the layer of the first bad gradient") {
  const AnomalyMode on;
  const Tensor x = wanted(Array::from({2}, {4, 0}));
  Tensor y;
  {
    const LayerScope scope("norm");
    y = sqrt(x);
  }
  const Tensor z = y * 2;
  CHECK_THROWS_WITH_AS(z.backward(Array::full({2}, 1)),
                       "anomaly: backward of sqrt in norm made infinity at element 1 of shape (2,)",
                       DivergedError);
}

TEST_CASE("anomaly: a second backward of what diverged is refused") {
  const AnomalyMode on;
  Tensor x = wanted(Array::from({2}, {4, 0}));
  const Tensor y = sum(sqrt(x) * 2);
  CHECK_THROWS_AS(y.backward(), DivergedError);
  x.zero_grad();
  CHECK_THROWS_WITH_AS(y.backward(), doctest::Contains("was already used"), GraphError);
  CHECK(!x.grad());
}

TEST_CASE("anomaly: outside layers no path is named") {
  const AnomalyMode on;
  CHECK_THROWS_WITH_AS(log(Array::zeros({1})),
                       "anomaly: log made infinity at element 0 of shape (1,)", DivergedError);
}

TEST_CASE("anomaly: off, everything passes; on, finite values do") {
  CHECK(log(Array::zeros({1})).item() == -inf);
  const AnomalyMode on;
  const Tensor x = wanted(values({1000}, 1, 2));
  log(x).backward(Array::full({1000}, 1));
  CHECK(all_finite(x.grad()));
}
