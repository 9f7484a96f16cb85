#include <doctest/doctest.h>

#include "autograd/base/real.h"
#include "tests/support/learning.h"
#include "tests/support/source_tree.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("overfit_batch: every config of an extra learns a batch by heart") {
  const auto configs = layout::configs_of_extras();
  CHECK((expect_to_learn(configs) >= std::ssize(configs) - 1 || is_float64));  // one is too large
}
