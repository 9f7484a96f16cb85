// Attention without trainable weights: dot products, softmax, weighted sums.

#include "autograd/ops/exp.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/stack.h"
#include "autograd/ops/sum.h"
#include "layers/simple_attention.h"
#include "layers/text/formatted.h"
#include "tools/extras/tour/steps.h"

namespace heed::tour {

namespace {

constexpr const char* words_text = R"(
A model does not see words but vectors. Here are the {T} words "{sentence}", each embedded as
{d} numbers. In a trained model these would be learned; these are given, so that everything
that follows can be checked by hand.

{inputs}

One row a word, so the shape is (T, d): T tokens, d numbers each. The next steps turn every
row into a context vector: a row of the same kind that also knows about the other words.
)";

void words(const TourInputs& in, StepValues& show) { show("inputs", in.inputs, "inputs"); }

constexpr const char* scores_text = R"(
How much should word 2, "{query_word}", care about each of the words? Take its vector as the
query and compare it with every row by a dot product. The more two vectors point the same way, the
larger the number.

  attn_scores_2[i] = inputs[i] . query

{query = inputs[1]}

{attn_scores_2}

One score a word, the query itself included. In code, multiply every row by the query and
sum each row: that is T dot products at once.
)";

void scores(const TourInputs& in, StepValues& show) {
  const Tensor& inputs = in.inputs;                      // (T, d)
  const Tensor query = row(inputs, 1);                   // (d)
  const Tensor attn_scores_2 = sum(inputs * query, -1);  // (T)
  show("query", query);
  show("attn_scores_2", attn_scores_2, "simple.scores_2");
}

constexpr const char* dot_product_text = R"(
What a dot product is: multiply the two vectors number by number, add the products up. As a
loop, for word 1 and the query:

  res = 0.0
  for i in range(d):
      res += inputs[0][i] * query[i]

{products = inputs[0] * query}

{running = res after each round of the loop}

{res}

The last number of the running sums is the dot product, as is:

{dot = (inputs[0] * query).sum()}

It is large where both vectors are large in the same places, which is what makes it a measure of
how alike they are. It is also larger for longer vectors: the step "rescaled" comes back to that.
)";

void dot_product(const TourInputs& in, StepValues& show) {
  const Tensor first = row(in.inputs, 0), query = row(in.inputs, 1);  // (d)
  Tensor res = 0;
  std::vector<Tensor> running;
  for (int64_t i = 0; i < in.width(); ++i) {
    const Tensor product = slice(first, 0, i, i + 1) * slice(query, 0, i, i + 1);  // (1)
    res = res + reshape(product, {});
    running.push_back(res);
  }
  show("products", first * query);
  show("running", stack(running));
  show("res", res);
  show("dot", sum(first * query));
}

constexpr const char* weights_text = R"(
Scores become weights when they are positive and add up to 1. Dividing by the sum does the
second:

{attn_weights_2_tmp = attn_scores_2 / attn_scores_2.sum()}

but a negative score would stay negative, and a sum near 0 would blow up. Softmax does both,
whatever the scores are:

  softmax(s)[i] = exp(s[i]) / sum_j exp(s[j])

{attn_weights_2_naive = exp(attn_scores_2) / exp(attn_scores_2).sum()}

The softmax that everyone uses first takes away the largest score, which changes nothing on
paper (it cancels) and a lot in practice: see the step "overflow".

{attn_weights_2 = softmax(attn_scores_2)}

{total = attn_weights_2.sum()}

Both give the same as long as nothing overflows. What counts is the difference of two scores:
1 more makes a weight e = 2.718 times as large, whether the scores are 0 and 1 or 10 and 11.
)";

void weights(const TourInputs& in, StepValues& show) {
  const Tensor query = row(in.inputs, 1);                             // (d)
  const Tensor attn_scores_2 = sum(in.inputs * query, -1);            // (T)
  const Tensor normalised = attn_scores_2 / sum(attn_scores_2);       // (T)
  const Tensor naive = exp(attn_scores_2) / sum(exp(attn_scores_2));  // (T)
  const Tensor stable = softmax(attn_scores_2);                       // (T)
  show("attn_weights_2_tmp", normalised, "simple.weights_2_sum_normalised");
  show("attn_weights_2_naive", naive, "simple.weights_2_naive_softmax");
  show("attn_weights_2", stable, "simple.weights_2_softmax");
  show("total", sum(stable));
}

constexpr const char* division_text = R"(
Why softmax, when dividing by the sum makes the weights add up to 1 as well? There are two
reasons, and the first is scores below zero. Take 1 away from every score:

{below = attn_scores_2 - 1}

{by_sum = below / below.sum()}

{by_softmax = softmax(below)}

Softmax gives what it gave before, for only differences count. Divided by the sum, a score below
0 gives a weight below 0 (or, if the sum is negative too, the lowest score gives the largest
weight), the others add up to more than 1, and if the scores add up to 0 there is no answer.

The second reason is the gradient, from which scores learn. How does the weight of "{query_word}"
change with each score? By a backward pass, for the scores as they were; d w[i] / d s[j] is

  sum      ((i == j) - w[i]) / s.sum()
  softmax  w[i] ((i == j) - w[j])

{dby_sum = d (s / s.sum())[1] / d s}

{dby_softmax = d softmax(s)[1] / d s}

Divided by the sum, all other words pull alike, whether their scores are large or almost 0, and
the larger the scores, the less each of them can change. With softmax each pulls by its weight,
whatever the size of the scores. The same where the scores are 1 smaller:

{dby_sum_below = d (s / s.sum())[1] / d s, at below}

{dby_softmax_below = d softmax(s)[1] / d s, at below}

Softmax has the same gradient there. That of the division is larger the nearer the sum is to 0.
Where the sum is negative it has the wrong sign: a larger score makes the weight smaller.
)";

Tensor divided_by_sum(const Tensor& scores) { return scores / sum(scores); }
Tensor by_softmax(const Tensor& scores) { return softmax(scores); }

// d weights_of(scores)[1] / d scores, (T)
Tensor gradient_of_second(Tensor (*weights_of)(const Tensor&), const Tensor& scores) {
  const Tensor s = Tensor::parameter(scores.value());
  slice(weights_of(s), 0, 1, 2).backward();
  return s.grad();
}

void division_by_sum(const TourInputs& in, StepValues& show) {
  const Tensor scores = sum(in.inputs * row(in.inputs, 1), -1);  // (T)
  const Tensor below = scores - 1;
  show("below", below);
  show("by_sum", divided_by_sum(below));
  show("by_softmax", by_softmax(below));
  show("dby_sum", gradient_of_second(divided_by_sum, scores));
  show("dby_softmax", gradient_of_second(by_softmax, scores));
  show("dby_sum_below", gradient_of_second(divided_by_sum, below));
  show("dby_softmax_below", gradient_of_second(by_softmax, below));
}

constexpr const char* overflow_text = R"(
Why nobody computes softmax as it is written. Add 1000 to every score of the query:

{scores = attn_scores_2 + 1000}

The largest float32 is about 3.4e38, and exp(89) is beyond it already:

{exps = exp(scores)}

{naive = exps / exps.sum()}

Infinity divided by infinity is nan, not a number. Subtract the largest score first, and the
largest term is exp(0), which is 1: nothing can overflow, and the sum is never 0.

  softmax(s)[i] = exp(s[i] - max(s)) / sum_j exp(s[j] - max(s))

{stable = softmax(scores)}

{before = softmax(attn_scores_2)}

Adding the same number to all scores does not change the weights. Should a
last digit differ, it was lost in the addition: near 1000, float32 numbers are 0.00006 apart.
)";

constexpr const char* underflow_text = R"(
The other way round: take 1000 away from every score of the query.

{scores = attn_scores_2 - 1000}

The smallest float32 above 0 is about 1.4e-45, and exp(-104) is below it already:

{exps = exp(scores)}

{naive = exps / exps.sum()}

Nothing overflowed, yet 0 / 0 is nan as well. The largest score is subtracted here too, so the
largest term is exp(0) again, and the sum is at least 1:

{stable = softmax(scores)}

{before = softmax(attn_scores_2)}

A single term may still become 0, that of a score more than 104 below the largest: its weight is
0 to any digit that counts. Only its logarithm would be wrong, -inf, so a loss does not take the
log of a softmax: cross_entropy computes s[i] - max(s) - log(sum_j exp(s[j] - max(s))).
)";

// Softmax of the scores with `by` added to each, as it is written and as it is computed.
void shifted_softmax(const TourInputs& in, StepValues& show, real by) {
  const Tensor attn_scores_2 = sum(in.inputs * row(in.inputs, 1), -1);  // (T)
  const Tensor scores = attn_scores_2 + by;
  const Tensor exps = exp(scores);
  show("scores", scores);
  show("exps", exps);
  show("naive", exps / sum(exps));
  show("stable", softmax(scores));
  show("before", softmax(attn_scores_2));
}

void overflow(const TourInputs& in, StepValues& show) { shifted_softmax(in, show, 1000); }
void underflow(const TourInputs& in, StepValues& show) { shifted_softmax(in, show, -1000); }

constexpr const char* context_text = R"(
The context vector of "{query_word}" is a mixture of all words: each row, times its weight, added
up.

  context_vec_2 = sum_i attn_weights_2[i] * inputs[i]

{attn_weights_2}

{context_vec_2}

It has the width of the inputs, d = {d}. Each of its numbers lies between the smallest and the
largest of its column of the inputs, for the weights are positive and add up to 1: attention
averages, it never extrapolates.
)";

void context(const TourInputs& in, StepValues& show) {
  const Tensor& inputs = in.inputs;                                         // (T, d)
  const Tensor attn_weights_2 = softmax(sum(inputs * row(inputs, 1), -1));  // (T)
  const Tensor column = reshape(attn_weights_2, {in.tokens(), 1});          // (T, 1)
  const Tensor context_vec_2 = sum(column * inputs, 0);                     // (d)
  show("attn_weights_2", attn_weights_2);
  show("context_vec_2", context_vec_2, "simple.context_2");
}

constexpr const char* all_words_text = R"(
The same for all words at once. All dot products of rows with rows are one product of
matrices:

{attn_scores = inputs @ inputs^T}

Row 2 is what the step "scores" found. The matrix is its own transpose, for word 1 times word
2 is word 2 times word 1. Softmax goes over the last axis, so every row holds the weights of
one query:

{attn_weights = softmax(attn_scores)}

{row_sums = attn_weights.sum(-1)}

Now the weights are no longer symmetric: each row was divided by its own sum. One more
product mixes the words, (T, T) @ (T, d) -> (T, d):

{context_vecs = attn_weights @ inputs}

Row 2 is the context vector of the step before. The layer simple_attention does just this:

{layer = simple_attention(inputs)}
)";

void all_words(const TourInputs& in, StepValues& show) {
  const Tensor& inputs = in.inputs;                                          // (T, d)
  const Tensor attn_scores = matmul(inputs, inputs, Trans::no, Trans::yes);  // (T, T)
  const Tensor attn_weights = softmax(attn_scores);                          // (T, T)
  const Tensor context_vecs = matmul(attn_weights, inputs);                  // (T, d)
  SimpleAttention attention;
  show("attn_scores", attn_scores, "simple.scores");
  show("attn_weights", attn_weights, "simple.weights");
  show("row_sums", sum(attn_weights, -1), "simple.weight_row_sums");
  show("context_vecs", context_vecs, "simple.contexts");
  show("layer", attention(inputs));
}

std::string four_digits(real number) { return formatted("%.4f", static_cast<double>(number)); }

constexpr const char* hello_text = R"(
The whole of it once more on three words, small enough for pen and paper: "Hello shiny sun".

{words}

The row of "shiny" is the query. Its dot products with all three:

{scores = words @ shiny}

Softmax: the exponential of each, divided by the sum of the three.

{exps = exp(scores)}

{total = exps.sum()}

{weights = exps / total}

Each word times its weight, one row a word:

{terms = weights * words}

The sum of the three rows is what "shiny" means in this sentence:

{context = terms.sum(0)}

The text that this example comes from prints [0.3992, 0.3858, 0.8610], and for the term of "shiny"
itself, the second row above:

{printed}

That cannot come from rounding. Each number is the weight of "shiny" times a number of its
vector, so dividing gives the weight back. However each was rounded, up or down by less than one
in its last digit, the weight lies between these:

{least = (printed - 0.0001) / shiny}

{most = (printed + 0.0001) / shiny}

The first number needs a weight above {needs_more}, the last one a weight below {needs_less}:
there is no such weight. The numbers above are the right ones, and the error is too small to
matter.
)";

void hello(const TourInputs&, StepValues& show) {
  const Tensor words = Array::from({3, 3}, {0.34f, 0.22f, 0.54f,    // hello
                                            0.53f, 0.34f, 0.98f,    // shiny
                                            0.29f, 0.54f, 0.93f});  // sun
  const Tensor shiny = row(words, 1);                               // (3)
  const Tensor scores = sum(words * shiny, -1);                     // (3)
  const Tensor exps = exp(scores), total = sum(exps);               // (3), ()
  const Tensor weights = exps / total;                              // (3)
  const Tensor terms = reshape(weights, {3, 1}) * words;            // (3, 3)
  show("words", words);
  show("scores", scores);
  show("exps", exps);
  show("total", total);
  show("weights", weights);
  show("terms", terms);
  show("context", sum(terms, 0), "hello.context_shiny");

  const Tensor printed = Array::from({3}, {0.2156f, 0.1382f, 0.3983f});
  const Tensor least = (printed - 0.0001f) / shiny, most = (printed + 0.0001f) / shiny;
  show("printed", printed);
  show("least", least);
  show("most", most);
  show("needs_more", four_digits(least.value().data()[0]));
  show("needs_less", four_digits(most.value().data()[2]));
}

}  // namespace

std::vector<Step> simple_steps() {
  const std::string file = "tools/extras/tour/simple.cpp";
  return {
      {"words", "Words as vectors", "the book, 3.3", file, words_text, words},
      {"scores", "One word looks at all", "the book, 3.3.1", file, scores_text, scores},
      {"dot_product", "A dot product as a loop", "the book, 3.3.1", file, dot_product_text,
       dot_product},
      {"weights", "Softmax: from scores to weights", "the book, 3.3.1", file, weights_text,
       weights},
      {"division_by_sum", "Why not divide by the sum", "the book, 3.3.1", file, division_text,
       division_by_sum, /*records=*/true},
      {"overflow", "A softmax that overflows", "the book, 3.3.1", file, overflow_text, overflow},
      {"underflow", "A softmax that underflows", "the book, 3.3.1", file, underflow_text,
       underflow},
      {"context", "The context vector", "the book, 3.3.1", file, context_text, context},
      {"all_words", "All words at once", "the book, 3.3.2", file, all_words_text, all_words},
      {"hello", "Hello shiny sun", "an example for pen and paper", file, hello_text, hello},
  };
}

}  // namespace heed::tour
