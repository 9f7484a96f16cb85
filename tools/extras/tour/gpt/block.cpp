// What stands around attention in a GPT: layer norm, GELU, shortcuts, and all of it as a block.

#include "autograd/ops/mean.h"
#include "autograd/ops/sqrt.h"
#include "layers/activation.h"
#include "layers/layer_norm.h"
#include "layers/transformer_block.h"
#include "tools/extras/tour/steps.h"

namespace heed::tour {

namespace {

constexpr const char* norm_text = R"(
Numbers that pass through many layers grow or shrink, and a network whose numbers are too
large or too small learns badly. Layer norm puts each row right again: take away its mean,
divide by the root of its variance.

{mean = inputs.mean(-1, keepdim=True)}

{variance = inputs.var(-1, keepdim=True, unbiased=False)}

{by_hand = (inputs - mean) / sqrt(variance + 1e-5)}

Every row now has mean 0 and variance 1. The 1e-5 keeps a row of equal numbers from being
divided by 0. A layer then multiplies by a trained scale and adds a trained shift, 1 and 0 at
first:

{by_layer = LayerNorm({d})(inputs)}

Rows never mix: unlike batch norm, the result for a word does not depend on the other words,
nor on the batch.
)";

void norm_step(const TourInputs& in, StepValues& show) {
  const Tensor& inputs = in.inputs;                               // (T, d)
  const Tensor centre = mean(inputs, -1, /*keepdim=*/true);       // (T, 1)
  const Tensor gap = inputs - centre;                             // (T, d)
  const Tensor variance = mean(gap * gap, -1, /*keepdim=*/true);  // (T, 1)
  LayerNorm norm({.d_model = in.width()});
  show("mean", centre);
  show("variance", variance);
  show("by_hand", gap / sqrt(variance + 1e-5f));
  show("by_layer", norm(inputs));
}

constexpr const char* gelu_text = R"(
Two Linear layers in a row are one Linear layer, so something has to bend between them. The
oldest choice is relu, which cuts off what is negative. GPT uses GELU, which bends smoothly:

  gelu(x) = x * Phi(x), Phi the share of a normal distribution below x
  as GPT-2 computes it: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))

On the inputs, stretched from 0 to 1 to -3 to 3:

{x = inputs * 6 - 3}

{relu = relu(x)}

{gelu = gelu(x)}

{gelu_tanh = gelu(x), approximated by tanh}

Far from 0 the two agree with relu; around 0 GELU is smooth, and a little below 0 it is
negative. So a neuron that is off still has a gradient and can be switched on again.
)";

void gelu_step(const TourInputs& in, StepValues& show) {
  const Tensor x = in.inputs * 6 - 3;  // (T, d)
  show("x", x);
  show("relu", relu(x));
  show("gelu", gelu(x, Gelu::erf));
  show("gelu_tanh", gelu(x, Gelu::tanh));
}

constexpr const char* shortcut_text = R"(
Five layers, each a Linear layer ({d}, {d}) and a GELU; manual_seed({seed}) came first. What is
left of the words at the end?

  for layer in layers:
      x = gelu(layer(x))

{without = x, after five layers}

All rows look alike: each layer makes the differences between them smaller. How much does the
output change if the first number of the inputs grows by 0.1? That is what a gradient measures,
and what the first layer would have to learn from:

{reach = (without(inputs + 0.1 at [0, 0]) - without) / 0.1, row 1}

A shortcut adds what came in to what comes out, so that there is a way around every layer:

  for layer in layers:
      x = x + gelu(layer(x))

{with_shortcuts = x, after five layers}

{reach_with = the same change, with shortcuts, row 1}

The words can be told apart, and a change of the inputs arrives. Deep networks can be trained
since He et al. 2015 because of this sum.
)";

constexpr int64_t depth = 5;

Tensor through(const std::vector<std::unique_ptr<Linear>>& layers, Tensor x, bool shortcuts) {
  for (const auto& layer : layers) {
    const Tensor y = gelu((*layer)(x), Gelu::tanh);
    x = shortcuts ? x + y : y;
  }
  return x;
}

void shortcut_step(const TourInputs& in, StepValues& show) {
  const int64_t d = in.width();
  manual_seed(in.seed);
  std::vector<std::unique_ptr<Linear>> layers;
  for (int64_t i = 0; i < depth; ++i) {
    layers.push_back(std::make_unique<Linear>(Linear::Config{.d_in = d, .d_out = d}));
    draw(show, *layers.back(), text("layers.", i, "."));
  }
  Array moved = in.inputs.value().clone();
  moved.mutable_data()[0] += 0.1f;
  const auto reach = [&](const Tensor& y, bool shortcuts) {
    return row((through(layers, Tensor(moved), shortcuts) - y) / 0.1f, 0);
  };
  const Tensor without = through(layers, in.inputs, false);
  const Tensor with = through(layers, in.inputs, true);
  show("without", without);
  show("reach", reach(without, false));
  show("with_shortcuts", with);
  show("reach_with", reach(with, true));
}

constexpr const char* block_text = R"(
A block of a GPT puts it together: attention lets words look at each other, a feed-forward
network works on each word by itself, each after a norm and around each a shortcut.

  x = x + attention(norm1(x))
  x = x + feed_forward(norm2(x))

TransformerBlock(d_model={d}, num_heads=1, context_length={T}) after manual_seed({seed}):

{normed = norm1(inputs)}

{attended = attention(normed)}

{x = inputs + attended}

The feed-forward network is Linear {d} -> {hidden}, GELU, Linear {hidden} -> {d}:

{fed = feed_forward(norm2(x))}

{y = x + fed}

{by_layer = transformer_block(inputs)}

In and out have the same shape, ({T}, {d}), so blocks can be stacked; GPT-2 has 12 of them.
What flows along the shortcuts is called the residual stream: every block reads from it and
adds to it. `heed explain RUN` shows these steps for a model of your own.
)";

void block_step(const TourInputs& in, StepValues& show) {
  manual_seed(in.seed);
  const auto made = make_layer(
      "transformer_block",
      ConfigNode::map(
          {{"d_model", in.width()}, {"context_length", in.tokens()}, {"num_heads", int64_t{1}}}));
  auto& block = dynamic_cast<TransformerBlock&>(*made);
  draw(show, block);
  const Tensor batch = reshape(in.inputs, {1, in.tokens(), in.width()});
  const Tensor normed = block.norm1(batch), attended = block.att(normed);  // (1, T, d)
  const Tensor x = batch + attended;
  const Tensor fed = (*block.ff)((*block.norm2)(x));
  show("hidden", 4 * in.width());
  show("normed", row(normed, 0));
  show("attended", row(attended, 0));
  show("x", row(x, 0));
  show("fed", row(fed, 0));
  show("y", row(x + fed, 0));
  show("by_layer", row(block(batch), 0));
}

}  // namespace

std::vector<Step> block_steps() {
  const std::string file = "tools/extras/tour/gpt/block.cpp";
  return {
      {"layer_norm", "Layer norm", "the book, 4.2", file, norm_text, norm_step},
      {"gelu", "GELU", "the book, 4.3", file, gelu_text, gelu_step},
      {"shortcut", "Shortcuts", "the book, 4.4", file, shortcut_text, shortcut_step},
      {"block", "A block of a GPT", "the book, 4.5", file, block_text, block_step},
  };
}

}  // namespace heed::tour
