#include "layers/gated_feed_forward.h"

#include "layers/feed_forward.h"
#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("gated_feed_forward: one layer gates another") {
  GatedFeedForward layer({.d_model = 1, .ff_width = 1, .bias = false});
  set_parameter(layer, "gate_proj.weight", Array::from({1, 1}, {2}));
  set_parameter(layer, "up_proj.weight", Array::from({1, 1}, {3}));
  set_parameter(layer, "down_proj.weight", Array::from({1, 1}, {10}));
  const double at_1 = 10 * 3 * 2 / (1 + std::exp(-2.0));
  check_near(layer(Tensor(Array::from({2, 1}, {0, 1}))).value(),
             Array::from({2, 1}, {0, static_cast<real>(at_1)}), 1e-6);
}

TEST_CASE("gated_feed_forward: a FeedForward has no gate") {
  CHECK(message_of<ConfigError>([] { FeedForward({.d_model = 3, .activation = "swiglu"}); }) ==
        "feed_forward: expected an activation between two Linear layers, got swiglu; "
        "GatedFeedForward is the class of such layers");
}
