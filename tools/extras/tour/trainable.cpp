// Self-attention with trainable weights: queries, keys and values.
#include <algorithm>
#include <cmath>

#include "autograd/ops/permute.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/sum.h"
#include "layers/self_attention_v1.h"
#include "layers/self_attention_v2.h"
#include "tools/extras/tour/steps.h"

namespace heed::tour {

namespace {

constexpr const char* trainable_text = R"(
So far a word was compared by its own vector, and nothing could be learned. Three matrices
change that: they turn an input into a query (what it looks for), a key (what it offers
to be found by) and a value (what it hands over when found).

  queries = inputs @ W_query,   keys = inputs @ W_key,   values = inputs @ W_value

All three are ({d}, 2), drawn by rand after manual_seed({seed}), in that order. For
"{query_word}":

{query_2 = inputs[1] @ W_query}

Its score with itself, then with all words:

{attn_score_22 = query_2 . keys[1]}

{attn_scores_2 = query_2 @ keys^T}

Before the softmax the scores are divided by sqrt(2), the root of the width of a key. A dot
product of more numbers is larger; without the division a wide model would begin with weights
near 0 and 1, where softmax has almost no gradient and learns slowly.

{attn_weights_2 = softmax(attn_scores_2 / sqrt(2))}

{context_vec_2 = attn_weights_2 @ values}

The context vector now has the width of the values, 2, not that of the inputs, {d}.
)";

void trainable(const TourInputs& in, StepValues& show) {
  constexpr int64_t d_out = 2;
  const Tensor& inputs = in.inputs;  // (T, d)
  manual_seed(in.seed);
  const auto rand = [](const Shape& shape) {
    Array values = Array::uninitialised(shape);
    init::rand(values);
    return Tensor(values);
  };
  const Tensor W_query = rand({in.width(), d_out});  // (d, 2)
  const Tensor W_key = rand({in.width(), d_out});
  const Tensor W_value = rand({in.width(), d_out});

  const Tensor keys = matmul(inputs, W_key), values = matmul(inputs, W_value);    // (T, 2)
  const Tensor query_2 = row(matmul(inputs, W_query), 1);                         // (2)
  const Tensor attn_scores_2 = sum(keys * query_2, -1);                           // (T)
  const Tensor attn_weights_2 = softmax(attn_scores_2 / std::sqrt(real{d_out}));  // (T)
  const Tensor column = reshape(attn_weights_2, {in.tokens(), 1});                // (T, 1)
  const Tensor context_vec_2 = sum(column * values, 0);                           // (2)
  show.drawn("W_query", W_query);
  show.drawn("W_key", W_key);
  show.drawn("W_value", W_value);
  show("query_2", query_2, "trainable.query_2");
  show("attn_score_22", sum(row(keys, 1) * query_2), "trainable.score_22");
  show("attn_scores_2", attn_scores_2, "trainable.scores_2");
  show("attn_weights_2", attn_weights_2, "trainable.weights_2");
  show("context_vec_2", context_vec_2, "trainable.context_2");
}

constexpr const char* v1_text = R"(
The same as a layer, for all words at once. Its parameters are three matrices (d_in, d_out) =
({d}, 2) drawn by rand, after manual_seed({seed}) the very ones of the step before.

  queries = x @ W_query,   keys = x @ W_key,   values = x @ W_value
  attn_weights = softmax(queries @ keys^T / sqrt(d_out))
  context_vec = attn_weights @ values

{context_vecs = SelfAttention_v1({d}, 2)(inputs)}

Row 2 is the context vector of the step "trainable". In a config the layer is called
self_attention_v1; `heed layers self_attention_v1` lists its fields.
)";

void self_attention_v1(const TourInputs& in, StepValues& show) {
  manual_seed(in.seed);
  SelfAttentionV1 attention({.d_in = in.width(), .d_out = 2});
  draw(show, attention);
  show("context_vecs", attention(in.inputs), "self_attention_v1");
}

constexpr const char* v2_text = R"(
Linear layers in place of bare matrices. They compute the same product, without a bias here,
but begin with better numbers: between -1/sqrt(d_in) and 1/sqrt(d_in), so that the size of
the output does not depend on the width of the input. Rand is between 0 and 1, all positive.

{context_vecs = SelfAttention_v2({d}, 2)(inputs)}

After manual_seed({seed_v2}). The numbers differ from version 1 because the weights do, not the
formula. Next step: proof.
)";

void self_attention_v2(const TourInputs& in, StepValues& show) {
  manual_seed(in.seed_v2);
  SelfAttentionV2 attention({.d_in = in.width(), .d_out = 2});
  draw(show, attention);
  show("context_vecs", attention(in.inputs), "self_attention_v2");
}

constexpr const char* moved_text = R"(
Give version 1 the weights of version 2, and it must say the same. A Linear layer keeps its
weight as (d_out, d_in) and computes x @ weight^T; version 1 keeps (d_in, d_out) and computes
x @ W. So the weights move transposed:

  v1.W_query = v2.W_query.weight^T, and so on for W_key and W_value

{from_v2 = v2(inputs)}

{from_v1 = v1(inputs), with the weights of v2}

The largest difference is {difference}. A file of weights saved from one version does not fit
the other without that transposition: shapes ({d}, 2) and (2, {d}) say so, unless d_in equals
d_out, when nothing complains and everything is wrong.
)";

void give(Parameter& to, const Tensor& values) {
  const NoGrad off;
  const Array from = values.value();
  std::copy_n(from.data(), from.size(), to.tensor().mutable_value());
}

void v2_into_v1(const TourInputs& in, StepValues& show) {
  manual_seed(in.seed_v2);
  SelfAttentionV2 v2({.d_in = in.width(), .d_out = 2});
  SelfAttentionV1 v1({.d_in = in.width(), .d_out = 2});
  give(v1.W_query, transpose(v2.W_query->weight, 0, 1));  // (2, d) -> (d, 2)
  give(v1.W_key, transpose(v2.W_key->weight, 0, 1));
  give(v1.W_value, transpose(v2.W_value->weight, 0, 1));
  const Tensor from_v1 = v1(in.inputs), from_v2 = v2(in.inputs);
  draw(show, v2);
  show("from_v2", from_v2);
  show("from_v1", from_v1);
  show("difference", largest_difference(from_v1, from_v2));
}

}  // namespace

std::vector<Step> trainable_steps() {
  const std::string file = "tools/extras/tour/trainable.cpp";
  return {
      {"trainable", "Queries, keys, values", "the book, 3.4.1", file, trainable_text, trainable},
      {"self_attention_v1", "A layer with bare matrices", "the book, 3.4.2", file, v1_text,
       self_attention_v1},
      {"self_attention_v2", "A layer of Linear layers", "the book, 3.4.2", file, v2_text,
       self_attention_v2},
      {"v2_into_v1", "Moving weights from one to the other", "the book, exercise 3.1", file,
       moved_text, v2_into_v1},
  };
}

}  // namespace heed::tour
