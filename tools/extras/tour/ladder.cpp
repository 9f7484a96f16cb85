// Attention once more from the bottom up, one rung at a time, from a plain average to multi-head
// attention. Shapes as in most code: B batch, T tokens, C channels (the width).
#include <cmath>
#include <limits>

#include "autograd/ops/dropout.h"
#include "autograd/ops/masked_fill.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/permute.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/sum.h"
#include "autograd/ops/tril.h"
#include "layers/linear.h"
#include "layers/multi_head_attention.h"
#include "tools/extras/tour/steps.h"

namespace heed::tour {

namespace {

// Queries, keys and values, (T, D) each, from Linear layers initialised in this order.
struct Projected {
  Tensor queries, keys, values;
};

Projected project(const TourInputs& in, StepValues& show) {
  const int64_t D = in.width();
  manual_seed(in.seed);
  Linear W_query({.d_in = D, .d_out = D, .bias = false});
  Linear W_key({.d_in = D, .d_out = D, .bias = false});
  Linear W_value({.d_in = D, .d_out = D, .bias = false});
  show.drawn("W_query.weight", W_query.weight);
  show.drawn("W_key.weight", W_key.weight);
  show.drawn("W_value.weight", W_value.weight);
  return {W_query(in.inputs), W_key(in.inputs), W_value(in.inputs)};
}

constexpr const char* ones_text = R"(
The bottom rung. A Linear layer D -> D without bias, W_value, makes a value of each word:

{values = W_value(inputs)}

Words talk to each other whenever a matrix (T, T) multiplies their values (T, D) from the left:
row t of the result is a sum of all values, each times a weight. The plainest weights are ones:

{weights = ones(T, T)}

{mixed = weights @ values}

Every row is the same sum of all {T} words: (T, T) @ (T, D) -> (T, D). The words were mixed,
but none has a say in what it gets.
)";

void mixed_by_ones(const TourInputs& in, StepValues& show) {
  const Tensor values = project(in, show).values;           // (T, D)
  const Tensor weights = ones({in.tokens(), in.tokens()});  // (T, T)
  show("values", values);
  show("weights", weights);
  show("mixed", matmul(weights, values));  // (T, D)
}

constexpr const char* mixed_by_scores_text = R"(
Second rung: let the words decide. Three Linear layers D -> D without bias, W_query, W_key and
W_value, after manual_seed({seed}), make queries, keys and values of the inputs; the values are
those of the rung before. The weight that word t gives to
word s is query t times key s:

{weights = queries @ keys^T}

{mixed = weights @ values}

Now every row is another mixture. But weights may be negative, and rows add up to anything:

{row_sums = weights.sum(-1)}
)";

void mixed_by_scores(const TourInputs& in, StepValues& show) {
  const auto [queries, keys, values] = project(in, show);               // (T, D)
  const Tensor weights = matmul(queries, keys, Trans::no, Trans::yes);  // (T, T)
  show("weights", weights);
  show("mixed", matmul(weights, values));
  show("row_sums", sum(weights, -1));
}

constexpr const char* rescaled_text = R"(
Third rung. A dot product adds up D terms, so scores grow with the width of the model. Divide
by sqrt(D): if the entries of queries and keys have variance 1, so have the scores again.

{weights = queries @ keys^T / sqrt(D)}

{mixed = weights @ values}

D is {d} here, so every number of the rung before is divided by sqrt({d}) = {root}.
)";

void rescaled(const TourInputs& in, StepValues& show) {
  const auto [queries, keys, values] = project(in, show);  // (T, D)
  const real root = std::sqrt(static_cast<real>(in.width()));
  const Tensor weights = matmul(queries, keys, Trans::no, Trans::yes) / root;  // (T, T)
  show("weights", weights);
  show("mixed", matmul(weights, values));
  show("root", text(root));
}

constexpr const char* softmax_text = R"(
Fourth rung: softmax over the keys, the last axis. Each query has 1 to give and shares it out
among the words:

{weights = softmax(queries @ keys^T / sqrt(D))}

{row_sums = weights.sum(-1)}

{mixed = weights @ values}

Over the other axis the columns would add up to 1 instead: each key would be shared out among
the queries. The shapes are the same and nothing complains; look at the row sums.
)";

void softmax_over_keys(const TourInputs& in, StepValues& show) {
  const auto [queries, keys, values] = project(in, show);  // (T, D)
  const real root = std::sqrt(static_cast<real>(in.width()));
  const Tensor weights = softmax(matmul(queries, keys, Trans::no, Trans::yes) / root);  // (T, T)
  show("weights", weights);
  show("row_sums", sum(weights, -1));
  show("mixed", matmul(weights, values));
}

constexpr const char* multi_head_text = R"(
The top rung: batches, heads, a causal mask, dropout, a final projection. x is the inputs
twice, {x_shape}; C = 4 channels, H = 2 heads of 2; dropout 0.1.

  queries, keys, values = W_query(x), W_key(x), W_value(x)          (B, T, C)
  each .view(B, T, H, C/H).transpose(1, 2)                          {head_shape}
  weights = queries @ keys.transpose(2, 3) / sqrt(C/H)              {weight_shape}
  weights = dropout(softmax(weights.masked_fill(future, -inf)))
  y = (weights @ values).transpose(1, 2).view(B, T, C)              {y_shape}
  y = out_proj(y)

Text 0, head 0, weights after dropout (seed {seed}):

{first_weights = weights[0, 0]}

{by_hand = y}

Of the weights that are not hidden about one in ten is 0, the others are larger by 1/0.9. Text
0 and text 1 have the same words; where their results differ, dropout hit one and not the
other. And the layer multi_head_attention, with the same seed:

{by_layer = multi_head_attention(x)}

The layer never stores the weights: it computes them tile by tile and makes the dropout mask
again in the backward pass. The numbers are the same up to rounding.
)";

constexpr int64_t C = 4, H = 2;  // channels, heads
constexpr double p = 0.1;        // dropout

struct ByHand {
  Tensor weights;  // (B, H, T, T), after dropout
  Tensor y;        // (B, T, C)
};

ByHand attend_by_hand(const Tensor& x) {
  const int64_t B = x.dim(0), T = x.dim(1);
  const Linear::Config projection{.d_in = x.dim(2), .d_out = C, .bias = false};
  Linear W_query(projection), W_key(projection), W_value(projection);
  Linear out_proj({.d_in = C, .d_out = C});

  const auto heads = [&](const Tensor& z) {
    return transpose(reshape(z, {B, T, H, C / H}), 1, 2);  // (B, H, T, C/H)
  };
  const Tensor queries = heads(W_query(x)), keys = heads(W_key(x)), values = heads(W_value(x));
  const Tensor scores = matmul(queries, transpose(keys, 2, 3)) / std::sqrt(real{C / H});
  const Mask future = nonzero(triu(ones({T, T}), 1).value());  // (T, T)
  const Tensor masked = masked_fill(scores, future, -std::numeric_limits<real>::infinity());
  const Tensor weights = dropout(softmax(masked), p, /*training=*/true);  // (B, H, T, T)
  const Tensor mixed = reshape(transpose(matmul(weights, values), 1, 2), {B, T, C});  // (B, T, C)
  return {weights, out_proj(mixed)};
}

void multi_head(const TourInputs& in, StepValues& show) {
  const Tensor x = batch_of_two(in);  // (B, T, D)
  const int64_t T = in.tokens();
  manual_seed(in.seed);
  const auto [weights, by_hand] = attend_by_hand(x);

  manual_seed(in.seed);
  MultiHeadAttention attention(
      {.d_in = in.width(), .d_out = C, .context_length = T, .num_heads = H, .dropout = p});
  const Tensor by_layer = attention(x);
  draw(show, attention);
  manual_seed(in.seed);
  show.drawn("kept", dropout(ones(weights.shape()), p, /*training=*/true));
  show("x_shape", text(x.shape()));
  show("head_shape", text(Shape{2, H, T, C / H}));
  show("weight_shape", text(weights.shape()));
  show("y_shape", text(by_hand.shape()));
  show("first_weights", row(row(weights, 0), 0));
  show("by_hand", by_hand);
  show("by_layer", by_layer);
}

}  // namespace

std::vector<Step> ladder_steps() {
  const std::string file = "tools/extras/tour/ladder.cpp";
  const std::string source = "Vaswani et al. 2017, 3.2";
  return {
      {"mixed_by_ones", "The ladder, rung 1: a sum of all words", source, file, ones_text,
       mixed_by_ones},
      {"mixed_by_scores", "Rung 2: queries and keys decide", source, file, mixed_by_scores_text,
       mixed_by_scores},
      {"rescaled", "Rung 3: divided by sqrt(D)", source + ".1", file, rescaled_text, rescaled},
      {"softmax_over_keys", "Rung 4: softmax over the keys", source + ".1", file, softmax_text,
       softmax_over_keys},
      {"multi_head_by_hand", "Rung 5: heads, mask, dropout, projection", source + ".2", file,
       multi_head_text, multi_head},
  };
}

}  // namespace heed::tour
