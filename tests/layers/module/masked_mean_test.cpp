#include "layers/module/masked_mean.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("masked_mean: only what is kept counts, nothing kept is 0") {
  const Tensor x(Array::from({3, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  Mask mask = Mask::full({3, 2}, 1);
  mask.mutable_data()[2] = 0;                           // the first token of item 1
  mask.mutable_data()[4] = mask.mutable_data()[5] = 0;  // all of item 2
  CHECK(check_near(masked_mean("m", x, mask).value(), Array::from({3, 1, 2}, {2, 3, 7, 8, 0, 0})) >
        0);
  CHECK(check_near(masked_mean("m", x, {}).value(), Array::from({3, 1, 2}, {2, 3, 6, 7, 10, 11})) >
        0);
}

TEST_CASE("masked_mean: another mask is refused, in a dry run none is read") {
  const Tensor x(Array::zeros({2, 3, 4}));
  CHECK(message_of<ShapeError>([&] {
          masked_mean("m", x, Mask::full({2, 4}, 1));
        }) == "m: expected a mask (B, T) = (2, 3) for the mean over the tokens, got (2, 4)");
  const DryRun dry;
  CHECK(masked_mean("m", Array::uninitialised({2, 3, 4}), Mask::uninitialised({2, 3})).shape() ==
        Shape{2, 1, 4});
}
