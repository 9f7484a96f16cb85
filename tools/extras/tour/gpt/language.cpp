// From vectors to text: logits, the loss, temperature and top-k.
#include <algorithm>
#include <limits>
#include <numeric>

#include "autograd/ops/cross_entropy.h"
#include "autograd/ops/exp.h"
#include "autograd/ops/log.h"
#include "autograd/ops/masked_fill.h"
#include "autograd/ops/max.h"
#include "autograd/ops/mean.h"
#include "autograd/ops/softmax.h"
#include "layers/linear.h"
#include "tools/extras/tour/steps.h"

namespace heed::tour {

namespace {

// The logits (T, T) of an output layer whose vocabulary are the words themselves.
Tensor logits_of(const TourInputs& in, StepValues& show) {
  manual_seed(in.seed);
  Linear out_head({.d_in = in.width(), .d_out = in.tokens(), .bias = false});
  draw(show, out_head, "out_head.");
  return out_head(in.inputs);
}

Tensor last_row(const Tensor& x) { return row(x, x.dim(0) - 1); }

constexpr const char* logits_text = R"(
A GPT ends with a Linear layer from the width of the model to the vocabulary: one number, a
logit, for every token that may come next. Let the vocabulary be the {T} words of the sentence,
in their order, and out_head a Linear layer ({d}, {T}), after manual_seed({seed}):

{logits = out_head(inputs)}

Row t says what comes after word t. To write on, only the last row counts. Softmax makes
probabilities of it:

{probabilities = softmax(logits[-1])}

The likeliest token is the next one. Its text is looked up, it is put behind the others, and
all begins again:

{next_word = words[argmax(logits[-1])]}

This layer has learned nothing, so all words are about as likely, 1/{T}.
)";

void logits_step(const TourInputs& in, StepValues& show) {
  const Tensor logits = logits_of(in, show);  // (T, T)
  const Tensor last = last_row(logits);       // (T)
  show("logits", logits);
  show("probabilities", softmax(last));
  show("next_word", in.words[static_cast<size_t>(argmax(last.value(), -1).data()[0])]);
}

constexpr const char* loss_text = R"(
How good is a model that writes? At every position a word really comes next, the target. After
word 1 it is word 2, and so on; the last word of the sentence is not followed by anything. The
logits are those of the step "logits_to_text", all rows but the last:

{targets}

{probabilities = softmax(logits[:-1])}

What the model gave to the right words:

{of_targets = probabilities[t, targets[t]]}

The loss is the mean of minus their logarithms. It is 0 if every right word has probability 1,
and grows without limit as one of them approaches 0:

{losses = -log(of_targets)}

{loss = losses.mean()}

{by_layer = cross_entropy(logits[:-1], targets)}

Its exponential is the perplexity: among how many words the model hesitates. A model that knows
nothing has {T}:

{perplexity = exp(loss)}

Training changes the weights so that this number falls: `heed train six_words` brings the loss of
this sentence to 0.
)";

void loss_step(const TourInputs& in, StepValues& show) {
  const int64_t count = in.tokens() - 1;
  const Tensor logits = slice(logits_of(in, show), 0, 0, count);  // (T - 1, T)
  std::vector<int32_t> next(static_cast<size_t>(count));
  std::iota(next.begin(), next.end(), 1);
  const Ids targets = Ids::from({count}, next);
  const Tensor probabilities = softmax(logits);
  std::vector<real> right;
  for (int64_t t = 0; t < count; ++t) {
    right.push_back(probabilities.value().data()[t * in.tokens() + t + 1]);
  }
  const Tensor of_targets = Array::from({count}, right);
  const Tensor losses = -log(of_targets);
  show("targets", targets);
  show("probabilities", probabilities);
  show("of_targets", of_targets);
  show("losses", losses);
  show("loss", mean(losses));
  show("by_layer", cross_entropy(logits, targets));
  show("perplexity", exp(mean(losses)));
}

constexpr const char* temperature_text = R"(
Always the likeliest word makes dull and repetitive text. Draw the next word instead, each with
its probability; two knobs say how boldly. The logits of the last row, five times as large so
that there is something to choose:

{logits = 5 * out_head(inputs)[-1]}

{probabilities = softmax(logits)}

The temperature divides the logits before the softmax. Below 1 the likely becomes likelier, and
at 0 nothing else is left; above 1 all come closer to each other:

{cold = softmax(logits / 0.5)}

{hot = softmax(logits / 2)}

Top-k keeps the k largest logits and hides the others, as a mask in attention does: with -inf.
So nothing absurd is ever drawn, however hot it is.

{top_3 = logits where among the 3 largest, else -inf}

{drawn_from = softmax(top_3)}

`heed generate RUN --temperature 0.8 --top-k 40` does both.
)";

void temperature_step(const TourInputs& in, StepValues& show) {
  const Tensor logits = 5 * last_row(logits_of(in, show));  // (T)
  std::vector<real> sorted(logits.value().span().begin(), logits.value().span().end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const real least = sorted[std::min<size_t>(3, sorted.size()) - 1];
  const Mask hidden = map<uint8_t>(logits.value(), [&](real logit) { return logit < least; });
  const Tensor top = masked_fill(logits, hidden, -std::numeric_limits<real>::infinity());
  show("logits", logits);
  show("probabilities", softmax(logits));
  show("cold", softmax(logits / 0.5f));
  show("hot", softmax(logits / 2));
  show("top_3", top);
  show("drawn_from", softmax(top));
}

}  // namespace

std::vector<Step> language_steps() {
  const std::string file = "tools/extras/tour/gpt/language.cpp";
  return {
      {"logits_to_text", "From logits to text", "the book, 4.7", file, logits_text, logits_step},
      {"loss", "The loss", "the book, 5.1", file, loss_text, loss_step},
      {"temperature", "Temperature and top-k", "the book, 5.3", file, temperature_text,
       temperature_step},
  };
}

}  // namespace heed::tour
