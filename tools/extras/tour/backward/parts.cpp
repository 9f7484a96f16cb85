// The backward of each part of a small GPT, from its loss to its inputs, with differences beside.
#include <algorithm>

#include "autograd/ops/matmul.h"
#include "autograd/ops/softmax.h"
#include "layers/text/formatted.h"
#include "tools/extras/tour/backward/small_gpt.h"
#include "tools/extras/tour/steps.h"
#include "train/check/gradients/slopes.h"

namespace heed::tour {

namespace {

constexpr const char* cross_entropy_backward_text = R"(
Training changes every weight a little, in the direction in which the loss falls. The backward pass
says which direction that is: dx has the shape of x, and each of its numbers says how fast the loss
changes as that number of x changes. The pass begins at the loss and goes back through every part.
These steps do so by hand, in float64, through the smallest GPT that has each part once: a layer
norm, causal attention with two heads and dropout, a shortcut, and a linear layer to the vocabulary.
It reads all words but the last, and after each the next one is wanted (seed {seed}):

{logits}

{probabilities = softmax(logits)}

{wanted = 1 for the word that comes next}

{loss = mean over rows of -log(probability of the wanted word)}

The gradient of a loss that is made of a softmax and a logarithm is as simple as a gradient can be:
what the model said minus what was wanted, p - y, here over the number of rows. It is negative for
the wanted word alone: its logit should rise, all others should fall, and each row adds up to 0.

{dlogits = (probabilities - wanted) / n}

The numbers beside or below come from no formula: one number of the logits is moved by h = 0.001,
and forward runs again, (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h, f being the loss. So each
gradient of these steps is checked, number by number.
)";

constexpr const char* linear_backward_text = R"(
The logits come from a linear layer, logits = z @ W_vocab^T. Each logit is a sum of products, and
the derivative of a product by one factor is the other one. So the gradient needs two products,
one for each factor:

{z}

{dz = dlogits @ W_vocab}

That is what goes back to the layers below: each word of the vocabulary pulls z toward its row of
W_vocab or pushes it away, as strongly as its logit should change. And for the weights:

{dW_vocab = dlogits^T @ z}

A weight is used at every position, so its gradient is a sum over positions: the row of a word adds
up what all positions want of it. A bias would get the sum of the rows of dlogits. Forward is one
product and backward two: a step of training costs three times a forward pass.
)";

constexpr const char* heads_backward_text = R"(
z is a sum: the word itself through the shortcut, and what each head votes for,

  z = x + vote_1 + vote_2,   vote_h = mixed_h @ W_out_h^T

A sum hands the same gradient to each of its terms. Both heads get dz as it is, and so does the
shortcut: nothing on the way can make it smaller. That is why deep models have shortcuts.

{dvote_1 = dz}

{dvote_2 = dz}

Heads never see each other. Each goes on through its own half of the output matrix:

{dmixed_1 = dvote_1 @ W_out_1}

{dmixed_2 = dvote_2 @ W_out_2}

{dW_out_1 = dvote_1^T @ mixed_1}

The opposite of a sum is a value that several read: then gradients are added. x is read by the
shortcut and by the layer norm, and the last step adds what comes from both.
)";

constexpr const char* dropout_backward_text = R"(
Each head mixes the values of earlier words, mixed = dropped @ values. That product has two
gradients again. For the first head:

{dvalues_1 = dropped_1^T @ dmixed_1}

{ddropped_1 = dmixed_1 @ values_1^T}

Before it, dropout has set about half of the attention weights to 0 and doubled the others. That
multiplies by a matrix which is drawn and then fixed, so backward multiplies by the same one. What
was dropped gets no gradient, for it had no effect. Another mask in the backward is wrong: the last
step shows what a check says of it.

{kept_1}

{dweights_1 = ddropped_1 * kept_1}

Above the diagonal are the hidden words. Not all of their numbers are 0: if a later word had a
weight, the loss would change. The next two steps show why it gets none.
)";

constexpr const char* softmax_backward_text = R"(
A softmax makes weights w of a row of scores. It divides by the sum over all of them, so each weight
depends on each score. All derivatives of one row together are a matrix, the Jacobian. For the last
word and the first head:

{weights_last = weights_1[-1]}

  jacobian[i, j] = d w[i] / d score[j] = w[i] (1 - w[i]) if i = j, else -w[i] w[j]

{jacobian = diag(w) - w w^T}

More score for one word takes from all others: rows and columns add up to 0. The gradient of the
scores is the Jacobian times the gradient of the weights:

{dweights_last = dweights_1[-1]}

{dmasked_last = jacobian @ dweights_last}

Nobody builds that matrix. Its product is two short lines, for all rows at once:

  r         = (weights * dweights).sum(-1, keepdim=True)
  dmasked   = weights * (dweights - r)

{dmasked_1 = weights_1 * (dweights_1 - r)}

A weight of 0 has a gradient of 0 before it: a softmax that is sure learns no more. That is why
scores are divided by sqrt(d).
)";

constexpr const char* mask_backward_text = R"(
Before the softmax, the mask has put -inf where the future is. It does not use the score that was
there, so backward puts 0 there, whatever comes. And scores had been divided by sqrt(2):

{dscores_1 = where(hidden, 0, dmasked_1) / sqrt(2)}

Differences agree: a hidden score can be moved by anything, the loss stays the same to the last
bit. A number other than 0 above the diagonal would be a leak, a model that learns from the future.
The first word has only itself to look at. Its weight is 1 whatever its score is, so its row is 0.

Scores are products of queries and keys, with two gradients. Row t of dqueries adds up the keys
that word t saw; row t of dkeys adds up the queries of all words that saw word t:

{dqueries_1 = dscores_1 @ keys_1}

{dkeys_1 = dscores_1^T @ queries_1}
)";

constexpr const char* layer_norm_backward_text = R"(
Queries, keys and values are all made of the same normed words, so that three gradients are added
there. They have both heads side by side:

{dnormed = dqueries @ W_query + dkeys @ W_key + dvalues @ W_value}

The layer norm has made normed = scale * xhat + shift, xhat = (x - mean) / deviation. Scale and
shift are used in each row: sums over rows.

{dscale = (dnormed * xhat).sum(0)}

{dshift = dnormed.sum(0)}

For its input there are three terms, because x is in the mean and in the deviation as well:

{direct = dxhat / deviation, where dxhat = dnormed * scale}

{of_mean = -dxhat.mean(-1) / deviation}

{of_variance = -xhat * (dxhat * xhat).mean(-1) / deviation}

Together they have no part along (1, 1, ...) and almost none along xhat: to move or stretch all
numbers of a word changes nothing behind the norm. With what came through the shortcut that is the
gradient of the words themselves:

{dx = dz + direct + of_mean + of_variance}

loss.backward() does all of it. All its gradients agree with these: {by_engine}. Drag a word in the
page of `heed tour --html`, and all of these steps follow.
)";

// By its name, "dx" being the gradient of x.
const Tensor& named(const Named& values, const Named& gradients, const std::string& name) {
  const auto value = values.find(name);
  if (value != values.end()) return value->second;
  const auto term = gradients.find(name);
  return term != gradients.end() ? term->second : gradients.at(name.substr(1));
}

// Each of the names; with a gradient goes <name>_check, the same by differences of the loss.
void show_named(const TourInputs& in, StepValues& show, std::initializer_list<const char*> names) {
  const SmallGpt model(in);
  const Named values = model.forward(), gradients = model.backward(values);
  for (const std::string name : names) {
    show(name, named(values, gradients, name));
    const auto moved = values.find(name.substr(1));
    if (!values.contains(name) && moved != values.end()) {
      show(name + "_check", Tensor(model.differences(moved->first, moved->second.value())));
    }
  }
  for (const auto& [name, value] : model.leaves()) show.drawn("model." + name, value);
}

void softmax_step(const TourInputs& in, StepValues& show) {
  const SmallGpt model(in);
  const Named values = model.forward(), gradients = model.backward(values);
  const int64_t last = values.at("x").dim(0) - 1;
  const Tensor weights = row(values.at("weights_1"), last);      // (n)
  const Tensor scores = row(values.at("masked_1"), last);        // (n)
  const Tensor dweights = row(gradients.at("weights_1"), last);  // (n)
  const Tensor jacobian = softmax_jacobian(weights);             // (n, n)
  const int64_t n = last + 1;
  Array differences = Array::uninitialised({n, n});
  for (int64_t at = 0; at < n * n; ++at) {
    differences.mutable_data()[at] = static_cast<real>(central_difference(
        [&](double by) {
          const Tensor moved = moved_by("scores", at % n, by)("scores", scores);
          return softmax(moved).value().data()[at / n];
        },
        SmallGpt::step_of_differences));
  }
  show("weights_last", weights);
  show("jacobian", jacobian);
  show("jacobian_check", Tensor(differences));
  show("dweights_last", dweights);
  show("dmasked_last", reshape(matmul(jacobian, reshape(dweights, {n, 1})), {n}));
  show_named(in, show, {"dmasked_1"});
}

// The largest gap between these gradients and those of backward().
std::string gap_to_engine(const SmallGpt& model, const Named& gradients) {
  std::map<std::string, Array> found;
  const Tensor loss = model.loss([&](const std::string& name, const Tensor& x) {
    const bool leaf = model.leaves().contains(name);
    return retained(leaf ? Tensor::parameter(x.value().clone()) : x, found[name]);
  });
  loss.backward();
  double gap = 0;
  for (const auto& [name, gradient] : found) {
    const auto ours = gradients.find(name);
    if (ours == gradients.end()) continue;  // parts of others, and the loss
    gap = std::max(gap, std::stod(largest_difference(gradient, ours->second.value())));
  }
  return text("they differ by up to ", formatted("%.1g", gap));
}

void layer_norm_step(const TourInputs& in, StepValues& show) {
  show_named(in, show, {"dnormed", "dscale", "dshift", "direct", "of_mean", "of_variance", "dx"});
  const SmallGpt model(in);
  show("by_engine", gap_to_engine(model, model.backward(model.forward())));
}

}  // namespace

std::vector<Step> backward_parts() {
  const auto part = [](const char* name, const char* title, const char* source, const char* lesson,
                       void (*run)(const TourInputs&, StepValues&), bool records = false) {
    return Step{name,   title, source,  "tools/extras/tour/backward/parts.cpp",
                lesson, run,   records, /*in_float64=*/true};
  };
  return {
      part("cross_entropy_backward", "Backward from the loss: p - y", "Bridle 1990",
           cross_entropy_backward_text,
           [](const TourInputs& in, StepValues& show) {
             show_named(in, show, {"logits", "probabilities", "wanted", "loss", "dlogits"});
           }),
      part("linear_backward", "A linear layer: two products", "Rumelhart et al. 1986",
           linear_backward_text,
           [](const TourInputs& in, StepValues& show) {
             show_named(in, show, {"z", "dz", "dW_vocab"});
           }),
      part("heads_backward", "A sum over heads and a shortcut", "He et al. 2015",
           heads_backward_text,
           [](const TourInputs& in, StepValues& show) {
             show_named(in, show, {"dvote_1", "dvote_2", "dmixed_1", "dmixed_2", "dW_out_1"});
           }),
      part("dropout_backward", "Dropout: the same mask again", "Srivastava et al. 2014",
           dropout_backward_text,
           [](const TourInputs& in, StepValues& show) {
             show_named(in, show, {"dvalues_1", "ddropped_1", "kept_1", "dweights_1"});
           }),
      part("softmax_backward", "Softmax: its Jacobian by hand", "Bridle 1990",
           softmax_backward_text, softmax_step),
      part("mask_backward", "The causal mask: nothing from the future", "Vaswani et al. 2017",
           mask_backward_text,
           [](const TourInputs& in, StepValues& show) {
             show_named(in, show, {"dscores_1", "dqueries_1", "dkeys_1"});
           }),
      part("layer_norm_backward", "Layer norm: three terms", "Ba et al. 2016",
           layer_norm_backward_text, layer_norm_step, /*records=*/true),
  };
}

}  // namespace heed::tour
