// One step of gradient descent on an attention layer, with every gradient on the way.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "autograd/ops/concat.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/mse.h"
#include "autograd/ops/softmax.h"
#include "layers/self_attention_v2.h"
#include "layers/text/formatted.h"
#include "tools/extras/tour/steps.h"
#include "tools/extras/tour/training/at_each.h"
#include "train/optimizer.h"

namespace heed::tour {

namespace {

constexpr int64_t step_width = 2;  // d_out
constexpr real difference_step = 1 / real{16};
constexpr double step_lr = 0.5;

constexpr const char* gradient_text = R"(
How a layer learns, with every number of it. The layer is that of the step "self_attention_v2",
SelfAttention_v2({d}, 2) after manual_seed({seed_v2}):

{W_query}

{W_key}

{W_value}

It gets a task: the context vector of each word should be the first two numbers of the word.

{targets = inputs[:, :2]}

Forward. The loss is the mean of the squared errors, over T times 2 numbers:

  attn_scores = queries @ keys^T,   queries = inputs @ W_query^T, and so on

{attn_weights = softmax(attn_scores / sqrt(2))}

{context_vec = attn_weights @ values}

{loss = mean((context_vec - targets)^2)}

Backward goes the same way from the end to the beginning. dx has the shape of x. Each of its
numbers says how fast the loss changes as that number of x changes. First the context vectors:

{dcontext_vec = 2 (context_vec - targets) / (2 T)}

Is it right? Move the number [1, 0] by h = 1/16, up and down, and run forward from there: (loss at
x + h minus loss at x - h) / 2h.

{context_vec_check = dcontext_vec[1, 0] by differences}

Checked so, number by number, {agreement}

Now through the product attn_weights @ values. Both of its factors get a gradient:

{dattn_weights = dcontext_vec @ values^T}

{dvalues = attn_weights^T @ dcontext_vec}

{dW_value = dvalues^T @ inputs}

Through the softmax. Each row adds up to 0, since a number added to all scores changes nothing:

  dattn_scores = attn_weights * (dattn_weights - r) / sqrt(2)
  r = (attn_weights * dattn_weights).sum(-1, keepdim=True)

{dattn_scores = d loss / d attn_scores}

And through queries @ keys^T to the two other matrices:

{dqueries = dattn_scores @ keys}

{dkeys = dattn_scores^T @ queries}

{dW_query = dqueries^T @ inputs}

{dW_key = dkeys^T @ inputs}

With the words of the book these two are much smaller than dW_value: the weights are still almost
equal and the values differ little, so it hardly matters yet who looks where. One step against the
gradient, with lr = 0.5, changes all three matrices at once:

{W_query_after = W_query - 0.5 dW_query}

{W_key_after = W_key - 0.5 dW_key}

{W_value_after = W_value - 0.5 dW_value}

{loss_after = the loss with these}

In code: loss.backward(), then Sgd({.lr = 0.5}, parameters).step(). `heed train` does the same, a
few thousand times.
)";

Tensor run_forward(const SelfAttentionV2& layer, const Tensor& inputs, const Tensor& targets,
                   const AtEach& at) {
  const auto project = [&](const char* name, const char* weight, const Linear& linear) {
    return at(name, matmul(inputs, at(weight, linear.weight), Trans::no, Trans::yes));  // (T, 2)
  };
  const Tensor queries = project("queries", "W_query", *layer.W_query);
  const Tensor keys = project("keys", "W_key", *layer.W_key);
  const Tensor values = project("values", "W_value", *layer.W_value);
  const Tensor attn_scores =  // (T, T)
      at("attn_scores", matmul(queries, keys, Trans::no, Trans::yes));
  const Tensor attn_weights =
      at("attn_weights", softmax(attn_scores / std::sqrt(real{step_width})));
  const Tensor context_vec = at("context_vec", matmul(attn_weights, values));  // (T, 2)
  return at("loss", mse(context_vec, targets));
}

// How far the gradients are from difference(name, element, h) of the loss: the largest gap, as a
// share of the largest number of its matrix; the rounding of the loss makes none above 1%. Of more
// than 64 numbers every 16th part is seen.
template <class Difference>
double largest_gap(const std::map<std::string, Array>& gradients, double loss,
                   const Difference& difference, real h) {
  if (!std::isfinite(loss)) return loss;
  const double rounding = 8 * std::numeric_limits<real>::epsilon() * loss / h;
  double largest = 0;
  for (const auto& [name, gradient] : gradients) {
    const std::span<const real> all = gradient.span();
    double most = 0;
    for (const real number : all) most = std::max<double>(most, std::abs(number));
    const int64_t stride = std::ssize(all) > 64 ? std::ssize(all) / 16 : 1;
    for (int64_t i = 0; name != "loss" && most > 0 && i < std::ssize(all); i += stride) {
      const double gap = std::abs(difference(name, i, h) - all[static_cast<size_t>(i)]);
      largest = std::max(largest, std::min(gap, std::max(gap - rounding, 0.009 * most)) / most);
    }
  }
  return largest;
}

Tensor copied(const Tensor& x) { return x.value().clone(); }

void gradient_step(const TourInputs& in, StepValues& show) {
  const Tensor& inputs = in.inputs;  // (T, d)
  const Tensor targets =             // (T, 2)
      in.width() > 1 ? slice(inputs, 1, 0, step_width) : concat({inputs, inputs}, 1);
  manual_seed(in.seed_v2);
  SelfAttentionV2 layer({.d_in = in.width(), .d_out = step_width});
  const std::vector<const char*> matrices{"W_query", "W_key", "W_value"};

  std::map<std::string, Tensor> seen;
  std::map<std::string, Array> gradients;
  const Tensor loss =
      run_forward(layer, inputs, targets, [&](const std::string& name, const Tensor& x) {
        seen[name] = copied(x);
        return retained(x, gradients[name]);
      });
  loss.backward();
  for (const char* name : matrices) {
    show.drawn(text(name, ".weight"), seen[name]);
    show.own(name, seen[name]);
  }
  show.own("targets", targets);
  for (const char* name : {"attn_weights", "context_vec", "loss"}) show.own(name, seen[name]);

  const auto difference = [&](const std::string& one, int64_t element, real h) {
    const NoGrad off;
    const auto loss_at = [&](real by) -> double {
      return run_forward(layer, inputs, targets, moved_by(one, element, by)).item();
    };
    return (loss_at(h) - loss_at(-h)) / (2 * h);
  };
  for (const char* name : {"context_vec", "attn_weights", "attn_scores", "W_query", "W_key",
                           "W_value", "queries", "keys", "values"}) {
    show.own(text("d", name), gradients[name]);
    const double check = difference(name, seen[name].dim(1), difference_step);
    show.own(text(name, "_check"), Tensor(Array::full({}, static_cast<real>(check))));
  }
  const double gap = largest_gap(gradients, loss.item(), difference, difference_step);
  show.own("agreement",
           text(gap <= 0.01 ? "all gradients of this step agree"
                            : "h is too coarse for these inputs, within which the loss bends",
                ": they differ by up to ", formatted("%.2g%%", 100 * gap),
                " of the largest number in their matrix."));

  Sgd({.lr = step_lr}, layer.parameters()).step();
  const Tensor loss_after =
      run_forward(layer, inputs, targets, [&](const std::string& name, const Tensor& x) {
        seen[name] = copied(x);
        return x;
      });
  for (const char* name : matrices) show.own(text(name, "_after"), seen[name]);
  show.own("loss_after", loss_after.detach());
}

}  // namespace

std::vector<Step> gradient_steps() {
  return {{"gradient_step", "One gradient step by hand", "Rumelhart et al. 1986",
           "tools/extras/tour/training/gradient_step.cpp", gradient_text, gradient_step,
           /*records=*/true}};
}

}  // namespace heed::tour
