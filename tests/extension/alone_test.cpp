// Tests without a plugin: heedgrad_add_plugin(alone TESTS alone_test.cpp).
#include <heed/autograd/ops/arithmetic.h>
#include <heed/autograd/ops/softmax.h>
#include <heed/testing.h>

#include "squared_difference.h"

using namespace heed;

TEST_CASE("alone: an operation, a layer and a task of heedgrad") {
  testing::check_op("softmax", [](const auto& in) { return softmax(in[0]) * in[1]; },
                    {{3, 5}, {3, 5}});
  testing::check_op("squared_difference",
                    [](const auto& in) { return extension::squared_difference(in[0], in[1]); },
                    {{3, 5}, {5}});
  testing::check_layer("{type: self_attention_v2, d_in: 3, d_out: 2}");
  testing::check_task("{type: sort, length: 8}");
}
