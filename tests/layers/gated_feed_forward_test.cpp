#include "layers/gated_feed_forward.h"

#include "layers/feed_forward.h"
#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("gated_feed_forward: the parameters of transformers' LlamaMLP, also by activation") {
  const std::string shapes =
      "gate_proj.weight (5, 3)\nup_proj.weight (5, 3)\ndown_proj.weight (3, 5)\n";
  CHECK(parameter_lines(*layer_of("{type: gated_feed_forward, d_model: 3, ff_width: 5, bias: "
                                  "false}")) == shapes);
  CHECK(parameter_lines(*layer_of("{type: feed_forward, d_model: 3, ff_width: 5, bias: false, "
                                  "activation: swiglu}")) == shapes);
  CHECK(check_torch_init("{type: gated_feed_forward, d_model: 3, ff_width: 5}", 11) ==
        3 * 15 + 5 + 5 + 3);
}

TEST_CASE("gated_feed_forward: one layer gates another") {
  GatedFeedForward layer({.d_model = 1, .ff_width = 1, .bias = false});
  set_parameter(layer, "gate_proj.weight", Array::from({1, 1}, {2}));
  set_parameter(layer, "up_proj.weight", Array::from({1, 1}, {3}));
  set_parameter(layer, "down_proj.weight", Array::from({1, 1}, {10}));
  const double at_1 = 10 * 3 * 2 / (1 + std::exp(-2.0));
  check_near(layer(Tensor(Array::from({2, 1}, {0, 1}))).value(),
             Array::from({2, 1}, {0, static_cast<real>(at_1)}), 1e-6);
}

TEST_CASE("gated_feed_forward: PyTorch's values") {
  CHECK(check_golden("gated_feed_forward") + check_golden("feed_forward_swiglu") ==
        2 * (2 + 3 + 2 + 6));
  CHECK(check_golden("gpt_llama") + check_golden("gpt_norm_eps") > 0);
}

TEST_CASE("gated_feed_forward: a FeedForward has no gate") {
  CHECK(error_of<ConfigError>([] { FeedForward({.d_model = 3, .activation = "swiglu"}); }) ==
        "feed_forward: expected an activation between two Linear layers, got swiglu; "
        "GatedFeedForward is the class of such layers");
}
