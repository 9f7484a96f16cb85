#include "layers/module/added_losses.h"

#include "autograd/ops/arithmetic.h"
#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

Tensor number(real value) { return Tensor::parameter(Array::full({}, value)); }

}  // namespace

TEST_CASE("added losses: sums by name, for the innermost scope of the thread") {
  add_loss("nobody", number(1));
  const AddedLosses outer;
  add_loss("a", number(1));
  Tensor x = number(3);
  {
    const AddedLosses inner;
    add_loss("b_2", 2 * x);
    add_loss("b_2", x * x);
    CHECK(inner.by_name.size() == 1);
    Tensor sum = inner.by_name.at("b_2");
    CHECK(sum.item() == 15);
    sum.backward();
    CHECK(x.grad().data()[0] == 8);
  }
  add_loss("a", number(4));
  CHECK(outer.by_name.size() == 1);
  CHECK(outer.by_name.at("a").item() == 5);
}

TEST_CASE("added losses: a number under a name that a column can have") {
  CHECK(message_of<Error>([] { add_loss("load balancing", number(1)); }) ==
        "add_loss: expected a name of a-z, 0-9 and _, got load balancing");
  CHECK(message_of<Error>([] { add_loss("", number(1)); }).find("got ") != std::string::npos);
  CHECK(message_of<ShapeError>([] { add_loss("pull", Tensor(Array::zeros({2}))); }) ==
        "add_loss: expected a loss pull of shape (), got (2,)");
}
