#include "layers/feed_forward.h"

#include "layers/gated_feed_forward.h"

namespace heed {

void FeedForward::Config::fields(Fields& f) {
  f.required("d_model", d_model, at_least(1), "width of x").example(4);
  f.optional("hidden_multiplier", hidden_multiplier, at_least(1), "hidden width / d_model").shows();
  f.choice("activation", activation, feed_forward_activations, "what stands between the two");
  f.optional("bias", bias, "biases in both").shows();
  f.optional("ff_width", ff_width, at_least(1), "hidden width", "hidden_multiplier * d_model")
      .shows();
}

std::unique_ptr<Module> FeedForward::make(const Config& c) {
  if (c.activation == "swiglu") {
    return std::make_unique<GatedFeedForward>(GatedFeedForward::Config{
        .d_model = c.d_model, .ff_width = c.hidden_width(), .bias = c.bias});
  }
  return std::make_unique<FeedForward>(c);
}

}  // namespace heed
