// Multi-head attention: separate heads, then one projection that is split into heads.
#include <cmath>
#include <set>

#include "autograd/ops/matmul.h"
#include "autograd/ops/permute.h"
#include "autograd/ops/softmax.h"
#include "layers/embedding.h"
#include "layers/multi_head_attention.h"
#include "layers/multi_head_attention_wrapper.h"
#include "layers/positional.h"
#include "tools/extras/tour/steps.h"

namespace heed::tour {

namespace {

constexpr const char* wrapper_text = R"(
One head finds one kind of relation. Several heads, each with its own W_query, W_key and
W_value, find several; their outputs are put side by side. The wrapper does it literally: a
list of causal attention layers.

  MultiHeadAttentionWrapper(d_in={d}, d_out=2, context_length={T}, dropout=0.0, num_heads=2)

{context_vecs = concat([head(batch) for head in heads], -1)}

After manual_seed({seed}). Each head is 2 wide, so the output is num_heads * d_out = 4 wide. The
first two columns are those of the step "causal_attention": same seed, same first weights.
)";

void wrapper(const TourInputs& in, StepValues& show) {
  manual_seed(in.seed);
  MultiHeadAttentionWrapper attention(
      {.d_in = in.width(), .d_out = 2, .context_length = in.tokens(), .num_heads = 2});
  draw(show, attention);
  show("context_vecs", attention(batch_of_two(in)), "multi_head_attention_wrapper");
}

constexpr const char* narrow_text = R"(
Two heads, and yet an output that is 2 wide, not 4: which argument has to change? The width
of the wrapper's output is num_heads * d_out, so each head gets d_out = 1.

  MultiHeadAttentionWrapper(d_in={d}, d_out=1, context_length={T}, dropout=0.0, num_heads=2)

{context_vecs = wrapper(batch)}

This is how multi-head attention is used in practice: more heads make each head narrower, the
output keeps its width, and so does the cost.
)";

void narrow_heads(const TourInputs& in, StepValues& show) {
  manual_seed(in.seed);
  MultiHeadAttentionWrapper attention(
      {.d_in = in.width(), .d_out = 1, .context_length = in.tokens(), .num_heads = 2});
  draw(show, attention);
  show("context_vecs", attention(batch_of_two(in)));
}

constexpr const char* matmul_text = R"(
Heads need not be computed one after the other. A product of matrices works on the last two
axes and repeats over all before them. Take a of shape (b, num_heads, num_tokens, head_dim):

{a}

and multiply each head's matrix by its own transpose:

{product = a @ a.transpose(2, 3)}

(1, 2, 3, 4) @ (1, 2, 4, 3) -> (1, 2, 3, 3): for each head its own 3 by 3 scores. One head at a
time gives the same:

{first_head = a[0, 0] @ a[0, 0]^T}

{second_head = a[0, 1] @ a[0, 1]^T}
)";

void batched_matmul(const TourInputs&, StepValues& show) {
  const Tensor a = Array::from({1, 2, 3, 4}, {0.2745f, 0.6584f, 0.2775f, 0.8573f,    // head 0
                                              0.8993f, 0.0390f, 0.9268f, 0.7388f,    //
                                              0.7179f, 0.7058f, 0.9156f, 0.4340f,    //
                                              0.0772f, 0.3565f, 0.1479f, 0.5331f,    // head 1
                                              0.4066f, 0.2318f, 0.4545f, 0.9737f,    //
                                              0.4606f, 0.5159f, 0.4220f, 0.5786f});  //
  const Tensor first = row(row(a, 0), 0);
  const Tensor second = row(row(a, 0), 1);
  show("a", a, "batched_matmul.input");
  show("product", matmul(a, transpose(a, 2, 3)), "batched_matmul");
  show("first_head", matmul(first, transpose(first, 0, 1)), "batched_matmul.first_head");
  show("second_head", matmul(second, transpose(second, 0, 1)), "batched_matmul.second_head");
}

constexpr const char* split_text = R"(
The efficient form. One W_query, W_key and W_value for all heads; their outputs (B, T, d_out)
are cut into num_heads pieces of d_out / num_heads columns:

  (B, T, d_out) -> view (B, T, H, d_out/H) -> transpose(1, 2) (B, H, T, d_out/H)
  attn_scores = queries @ keys.transpose(2, 3)                      (B, H, T, T)
  attn_weights = softmax(masked attn_scores / sqrt(d_out/H)), then dropout
  (attn_weights @ values).transpose(1, 2) -> view (B, T, d_out) -> out_proj

MultiHeadAttention(d_in={d}, d_out=2, context_length={T}, dropout=0.0, num_heads=2), so each head
is 1 wide; out_proj is a Linear layer that lets the heads' results mix.

{context_vecs = multi_head_attention(batch)}

After manual_seed({seed}). The order of view and transpose matters: view cuts each row, transpose
brings the heads to the front. A view straight to (B, H, T, d_out/H) has the right shape too
and splices tokens into heads, without any error.
)";

void multi_head_attention(const TourInputs& in, StepValues& show) {
  manual_seed(in.seed);
  MultiHeadAttention attention(
      {.d_in = in.width(), .d_out = 2, .context_length = in.tokens(), .num_heads = 2});
  draw(show, attention);
  show("context_vecs", attention(batch_of_two(in)), "multi_head_attention");
}

constexpr const char* ensemble_text = R"(
Several heads are an ensemble: each is a model of its own, with its own weights and its own
opinion of what to look at, and their results are added up. One head may find a pattern that is
only there by chance; that all of them find the same one is less likely.

That they are added is easy to miss, since heads are put side by side. But a Linear layer over
columns that lie side by side is a sum over the groups of columns:

  out_proj(concat(head_0, head_1)) = head_0 @ W_0^T + head_1 @ W_1^T + bias
  W_0, W_1: the columns of out_proj.weight for head 0 and for head 1

MultiHeadAttention(d_in={d}, d_out=4, num_heads=2) without a causal mask, after manual_seed({seed}).
What each head looks at:

{first_weights = weights of head 0}

{second_weights = weights of head 1}

and what each adds to the result:

{first_vote = head_0 @ W_0^T}

{second_vote = head_1 @ W_1^T}

{votes = first_vote + second_vote + bias}

{by_layer = multi_head_attention(inputs)}

Both are the same. Before training the heads differ only by their random weights, and they learn
to differ more. Does the ensemble protect from overfitting? configs/claims.md measures it, with
small models and five seeds each: no. On a short text that is read many times, models of the
same width overfit more the more heads they have: the validation loss ends at 2.9 with one head
and at 4.2 with eight. The table and its commands are there.
)";

// The weights of one head, and what it adds to the output of the layer.
struct Vote {
  Tensor weights, added;  // (T, T), (T, d_out)
};

// Head h reads columns [2 h, 2 h + 2) of the projections, and of out_proj's weight.
Vote vote_of(const MultiHeadAttention& attention, const Tensor& inputs, int64_t h) {
  const auto columns = [h](const Tensor& of) { return slice(of, 1, 2 * h, 2 * h + 2); };
  const Tensor queries = columns(attention.W_query(inputs));  // (T, 2)
  const Tensor keys = columns(attention.W_key(inputs));
  const Tensor values = columns(attention.W_value(inputs));
  const Tensor scores = matmul(queries, keys, Trans::no, Trans::yes) / std::sqrt(real{2});
  const Tensor weights = softmax(scores);                   // (T, T)
  const Tensor W = columns((*attention.out_proj)->weight);  // (d_out, 2)
  return {weights, matmul(matmul(weights, values), W, Trans::no, Trans::yes)};
}

void heads_as_ensemble(const TourInputs& in, StepValues& show) {
  manual_seed(in.seed);
  MultiHeadAttention attention({.d_in = in.width(),
                                .d_out = 4,
                                .context_length = in.tokens(),
                                .num_heads = 2,
                                .causal = false});
  draw(show, attention);
  const Vote first = vote_of(attention, in.inputs, 0);
  const Vote second = vote_of(attention, in.inputs, 1);
  show("first_weights", first.weights);
  show("second_weights", second.weights);
  show("first_vote", first.added);
  show("second_vote", second.added);
  show("votes", first.added + second.added + (*attention.out_proj)->bias);
  show("by_layer", attention(in.inputs));
}

constexpr const char* uneven_text = R"(
8 dimensions, 3 heads: 8 / 3 is not a whole number, so the columns cannot be shared out. The
layer refuses to be built and says why:

  MultiHeadAttention({.d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 3})

{error}

1, 2, 4 or 8 heads would do. In a config the message begins with the file, line and column of
num_heads, in `heed validate` and in `heed train`, before anything is computed.
)";

void uneven_heads(const TourInputs&, StepValues& show) {
  try {
    MultiHeadAttention attention({.d_in = 8, .d_out = 8, .context_length = 6, .num_heads = 3});
  } catch (const ConfigError& error) {
    show("error", error.what());
  }
}

constexpr const char* size_text = R"(
The attention of the smallest GPT-2: 768 wide, 12 heads of 64, 1024 tokens of context.

  MultiHeadAttention(d_in=768, d_out=768, context_length=1024, num_heads=12)

{parameters = sum(p.numel() for p in parameters())}

W_query, W_key and W_value have 768 * 768 = 589824 each, without bias; out_proj has as many and
768 for its bias. The number of heads does not matter, and neither does the context length:
attention has no weights that depend on how long the text is.
)";

void gpt2_size(const TourInputs&, StepValues& show) {
  MultiHeadAttention attention(
      {.d_in = 768, .d_out = 768, .context_length = 1024, .num_heads = 12});
  show("parameters", attention.parameter_count(), "exercise_3_3.parameter_count");
}

constexpr const char* text_text = R"(
From text to attention. Each distinct character of "{text}" gets a number, in the order of
the alphabet, {vocab_size} in all:

{ids}

A sliding window of 4 tokens, moved on by 4, cuts them into training examples. The targets
are the same windows one token later: at each position the model has to tell what comes next.

{windows}

{targets}

Each id picks a row of a table (vocab_size, d_model), and each position adds a row of another
table (context_length, d_model). Then multi-head attention mixes the tokens of a window.

  tok_emb(windows)                           {tok_shape}
  + pos_emb                                  {pos_shape}, the same for every window
  = x                                        {x_shape}
  MultiHeadAttention(8, 8, 4, 0.0, 2)(x)     {y_shape}

The first window before and after attention; manual_seed({seed}) came before the layers:

{x_first = x[0]}

{y_first = y[0]}

The shape stays (B, T, d_model), which is why such layers can be stacked. What is left of a
GPT: feed-forward layers, norms and shortcuts between them, and a last Linear layer from
d_model to vocab_size. `heed train quickstart` trains one.
)";

void text_to_attention(const TourInputs& in, StepValues& show) {
  const std::string text = "Your journey starts with one step";
  const std::set<char> letters(text.begin(), text.end());  // sorted
  std::vector<int32_t> ids;
  for (const char letter : text) {
    ids.push_back(static_cast<int32_t>(std::distance(letters.begin(), letters.find(letter))));
  }
  const auto vocab_size = static_cast<int64_t>(letters.size());
  constexpr int64_t context_length = 4, d_model = 8;

  const int64_t count = (std::ssize(ids) - 1) / context_length;  // number of windows
  Ids windows = Ids::uninitialised({count, context_length});     // (B, T)
  Ids targets = Ids::uninitialised({count, context_length});
  std::copy_n(ids.begin(), windows.size(), windows.mutable_data());
  std::copy_n(ids.begin() + 1, targets.size(), targets.mutable_data());

  manual_seed(in.seed);
  Embedding tok_emb({.vocab_size = vocab_size, .d_model = d_model});
  Positional pos_emb({.context_length = context_length, .d_model = d_model});
  MultiHeadAttention attention(
      {.d_in = d_model, .d_out = d_model, .context_length = context_length, .num_heads = 2});
  const Tensor tokens = tok_emb(windows);  // (B, T, d_model)
  const Tensor x = pos_emb(tokens);        // (B, T, d_model)
  const Tensor y = attention(x);           // (B, T, d_model)

  show("text", text);
  show("vocab_size", vocab_size);
  show("ids", Ids::from({std::ssize(ids)}, ids));
  show("windows", windows);
  show("targets", targets);
  show("tok_shape", heed::text(tokens.shape()));
  show("pos_shape", heed::text(Tensor(pos_emb.weight).shape()));
  show("x_shape", heed::text(x.shape()));
  show("y_shape", heed::text(y.shape()));
  show("x_first", row(x, 0));
  show("y_first", row(y, 0));
}

}  // namespace

std::vector<Step> multi_head_steps() {
  const std::string file = "tools/extras/tour/multi_head.cpp";
  return {
      {"wrapper", "Heads side by side", "the book, 3.6.1", file, wrapper_text, wrapper},
      {"narrow_heads", "Two heads, output 2 wide", "the book, exercise 3.2", file, narrow_text,
       narrow_heads},
      {"batched_matmul", "One product for all heads", "the book, 3.6.2", file, matmul_text,
       batched_matmul},
      {"multi_head_attention", "Multi-head attention with weight split", "the book, 3.6.2", file,
       split_text, multi_head_attention},
      {"heads_as_ensemble", "Several heads are an ensemble", "a thought on the book, 3.6", file,
       ensemble_text, heads_as_ensemble},
      {"uneven_heads", "8 dimensions, 3 heads", "the book, 3.6.2", file, uneven_text, uneven_heads},
      {"gpt2_size", "The size of GPT-2's attention", "the book, exercise 3.3", file, size_text,
       gpt2_size},
      {"text_to_attention", "From text to attention", "the book, 2.6 to 3.6", file, text_text,
       text_to_attention},
  };
}

}  // namespace heed::tour
