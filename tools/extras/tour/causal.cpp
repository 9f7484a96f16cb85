// Causal masking, and dropout on attention weights.
#include <cmath>
#include <limits>

#include "autograd/ops/dropout.h"
#include "autograd/ops/masked_fill.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/sum.h"
#include "autograd/ops/tril.h"
#include "autograd/ops/where.h"
#include "layers/causal_attention.h"
#include "layers/self_attention_v2.h"
#include "tools/extras/tour/steps.h"

namespace heed::tour {

namespace {

constexpr real infinity = std::numeric_limits<real>::infinity();
constexpr int64_t causal_width = 2;  // d_out

// queries @ keys^T as in the step self_attention_v2: (T, T)
Tensor v2_scores(const TourInputs& in, StepValues& show) {
  manual_seed(in.seed_v2);
  SelfAttentionV2 attention({.d_in = in.width(), .d_out = causal_width});
  draw(show, attention);
  const Tensor queries = attention.W_query(in.inputs);  // (T, 2)
  const Tensor keys = attention.W_key(in.inputs);       // (T, 2)
  return matmul(queries, keys, Trans::no, Trans::yes);
}

constexpr const char* causal_text = R"(
A model that writes must not read ahead: word t may attend to words 1 to t only. Start from
the weights of the layer self_attention_v2, seed {seed_v2}:

{attn_weights = softmax(attn_scores / sqrt(2))}

First way. Multiply by a matrix of ones and zeros, lower triangular; then the rows no longer
add up to 1, so divide each by its sum:

{mask = tril(ones)}

{masked_weights = attn_weights * mask}

{renormalised = masked_weights / masked_weights.sum(-1, keepdim=True)}

Second way, the usual one. Hide before the softmax: a score of -inf turns into exp(-inf), which
is 0, and the softmax divides by the right sum by itself.

{masked_scores = attn_scores.masked_fill(triu(ones, 1), -inf)}

{causal_weights = softmax(masked_scores / sqrt(2))}

The two results are the same. The first row is 1, 0, 0, ...: the first word has only itself to
look at. Nothing of the hidden words leaks through the first way either: their exponents are
in the first softmax's denominator, and the second division cancels it.
)";

void causal(const TourInputs& in, StepValues& show) {
  const int64_t T = in.tokens();
  const real scale = std::sqrt(real{causal_width});
  const Tensor attn_scores = v2_scores(in, show);  // (T, T)
  const Tensor attn_weights = softmax(attn_scores / scale);

  const Tensor mask = tril(ones({T, T}));
  const Tensor masked_weights = attn_weights * mask;
  const Tensor renormalised = masked_weights / sum(masked_weights, -1, /*keepdim=*/true);

  const Mask hidden = nonzero(triu(ones({T, T}), 1).value());  // 1: hidden
  const Tensor masked_scores = masked_fill(attn_scores, hidden, -infinity);
  const Tensor causal_weights = softmax(masked_scores / scale);
  show("attn_weights", attn_weights, "causal.v2_weights");
  show("mask", mask, "causal.mask_tril");
  show("masked_weights", masked_weights, "causal.masked_weights");
  show("renormalised", renormalised, "causal.renormalised_weights");
  show("masked_scores", masked_scores, "causal.masked_scores");
  show("causal_weights", causal_weights, "causal.weights");
}

constexpr const char* breaks_text = R"(
A mask is often added rather than filled in: 0 where a word may be seen, -inf where not. It is
tempting to write it as a triangle of ones times -inf:

{mask = triu(ones, 1) * -inf}

0 * -inf is not 0 but nan, and a single nan in a row of scores makes all its weights nan:

{broken = softmax(attn_scores + mask)}

Choose, do not multiply: take -inf where the mask says so and 0 elsewhere.

{mask_chosen = where(triu(ones, 1), -inf, 0)}

{causal_weights = softmax((attn_scores + mask_chosen) / sqrt(2))}

These are the weights of the step "causal". When a loss becomes nan from the first step on, a
mask like the one above is a good first suspect.
)";

void mask_that_breaks(const TourInputs& in, StepValues& show) {
  const int64_t T = in.tokens();
  const Tensor attn_scores = v2_scores(in, show);  // (T, T)
  const Tensor future = triu(ones({T, T}), 1);
  const Tensor mask = future * -infinity;
  const Tensor chosen = where(nonzero(future.value()), -infinity, 0);
  show("mask", mask);
  show("broken", softmax(attn_scores + mask));
  show("mask_chosen", chosen);
  show("causal_weights", softmax((attn_scores + chosen) / std::sqrt(real{causal_width})));
}

constexpr const char* dropout_text = R"(
While training, dropout sets some of the attention weights to 0 at random, so that no word can
rely on a single other one. With p = 0.5 about half go, and the rest is divided by 1 - p, that
is doubled, to keep the average. On a matrix of ones (manual_seed({seed}) comes first):

{dropped_ones = dropout(ones, 0.5)}

The same places of the causal weights (the seed is the same, and so is the size):

{dropped_weights = dropout(causal_weights, 0.5)}

Rows no longer add up to 1; on average they do. When the model is used, dropout is off.

Which places are hit depends on the generator behind dropout. The above is what PyTorch
printed on Linux up to version 2.6 (a stream called mcg31, heed's default). PyTorch on macOS,
and on Linux since 2.7, draws from its main generator instead (mt19937), which gives

{dropped_ones_mt19937 = dropout(ones, 0.5)}

In a config: `random: {dropout_stream: mt19937}`.
)";

void dropout_step(const TourInputs& in, StepValues& show) {
  const int64_t T = in.tokens();
  const Mask hidden = nonzero(triu(ones({T, T}), 1).value());
  const Tensor masked_scores = masked_fill(v2_scores(in, show), hidden, -infinity);
  const Tensor causal_weights = softmax(masked_scores / std::sqrt(real{causal_width}));  // (T, T)

  manual_seed(in.seed);
  const Tensor dropped_ones = dropout(ones({T, T}), 0.5, /*training=*/true);
  manual_seed(in.seed);
  const Tensor dropped_weights = dropout(causal_weights, 0.5, true);
  manual_seed(in.seed, Generators::separate, DropoutStream::mt19937);
  const Tensor newer = dropout(ones({T, T}), 0.5, true);
  show("dropped_ones", dropped_ones, "dropout.ones");
  show("dropped_weights", dropped_weights, "dropout.weights");
  show("dropped_ones_mt19937", newer, "dropout.ones.mt19937");
}

constexpr const char* layer_text = R"(
All of it as a layer, and on a batch. Training works on several texts at a time; here the same
text twice:

  batch = stack([inputs, inputs])                                shape {batch_shape}
  CausalAttention(d_in={d}, d_out=2, context_length={T}, dropout=0.0)

{context_vecs = causal_attention(batch)}

After manual_seed({seed}). (B, T, d_in) goes in, (B, T, d_out) comes out. Both halves are equal,
for batch items never see each other. Row 1 of each depends on the first word alone; change
the last word and only the last row changes. context_length is the longest text that the layer
takes; a longer one is refused with both numbers.
)";

void causal_attention(const TourInputs& in, StepValues& show) {
  manual_seed(in.seed);
  CausalAttention attention(
      {.d_in = in.width(), .d_out = causal_width, .context_length = in.tokens()});
  draw(show, attention);
  const Tensor batch = batch_of_two(in);  // (2, T, d)
  show("batch_shape", text(batch.shape()));
  show("context_vecs", attention(batch), "causal_attention");
}

}  // namespace

std::vector<Step> causal_steps() {
  const std::string file = "tools/extras/tour/causal.cpp";
  return {
      {"causal", "The causal mask, two ways", "the book, 3.5.1", file, causal_text, causal},
      {"mask_that_breaks", "A mask that breaks", "the book, 3.5.1", file, breaks_text,
       mask_that_breaks},
      {"dropout", "Dropout on attention weights", "the book, 3.5.2", file, dropout_text,
       dropout_step},
      {"causal_attention", "Causal attention on a batch", "the book, 3.5.3", file, layer_text,
       causal_attention},
  };
}

}  // namespace heed::tour
