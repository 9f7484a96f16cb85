// What a loop over heads costs, next to one product for all heads.
#include <algorithm>
#include <chrono>
#include <functional>

#include "layers/multi_head_attention.h"
#include "layers/multi_head_attention_wrapper.h"
#include "layers/text/formatted.h"
#include "tools/extras/tour/steps.h"

namespace heed::tour {

namespace {

constexpr const char* cost_text = R"(
The wrapper loops over its heads, multi_head_attention has one product for all. What does the loop
cost? Take {heads} heads of {head_width}, a model D = {width} wide and T = {tokens} tokens, in which
the two layers have the same weights.

  the loop, for each head
  Q, K, V  (T, D) @ (D, D/H)
  scores   (T, D/H) @ (D/H, T)
  mixture  (T, T) @ (T, D/H)

  at once, for all heads
  Q, K, V  (T, D) @ (D, D)
  scores   (H, T, D/H) @ (H, D/H, T)
  mixture  (H, T, T) @ (H, T, D/H)

The multiplications are as many either way: 3 T D^2 + 2 T^2 D = {multiplications}, if what the
mask hides is counted too. The products are not: 5 H = {products_in_loop} in the loop,
{products_at_once} at once.

Measured on the machine that wrote this text, the fastest of {runs} runs:

  loop     {loop_us} microseconds
  at once  {at_once_us} microseconds
  the loop takes {ratio} times as long

Both layers compute the same: the largest difference of their results is {difference}.

A product has a price even if it is small: a call, threads that are woken, factors that are copied
into the order in which they are read. The loop pays it for every head, and it reads the inputs
three times for each. In the end it copies the results of the heads to put them side by side. That
is why W_query of all heads is one matrix. In a build without optimisation, or where threads wait
for a busy machine, the ratio may be anything.
)";

constexpr int64_t loop_heads = 12, loop_width = 192, loop_tokens = 64;

// The same weights for both: head h has rows [h D/H, (h + 1) D/H) of each projection.
void give_heads(MultiHeadAttention& to, MultiHeadAttentionWrapper& from) {
  const NoGrad off;
  const auto give_rows = [](Linear& all, const Linear& head, int64_t h) {
    const Array rows = Tensor(head.weight).value();  // (D/H, D)
    std::copy_n(rows.data(), rows.size(), all.weight.tensor().mutable_value() + h * rows.size());
  };
  for (int64_t h = 0; h < loop_heads; ++h) {
    CausalAttention& head = *from.heads[static_cast<size_t>(h)];
    give_rows(*to.W_query, *head.W_query, h);
    give_rows(*to.W_key, *head.W_key, h);
    give_rows(*to.W_value, *head.W_value, h);
  }
}

// The shortest of several runs, in microseconds.
int64_t fastest_us(int64_t runs, const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  run();  // fills caches
  Clock::duration best = Clock::duration::max();
  for (int64_t i = 0; i < runs; ++i) {
    const auto start = Clock::now();
    run();
    best = std::min<Clock::duration>(best, Clock::now() - start);
  }
  return std::chrono::duration_cast<std::chrono::microseconds>(best).count();
}

void loop_over_heads(const TourInputs& in, StepValues& show) {
  constexpr int64_t D = loop_width, H = loop_heads, T = loop_tokens, runs = 10;
  manual_seed(in.seed);
  MultiHeadAttentionWrapper loop({.d_in = D, .d_out = D / H, .context_length = T, .num_heads = H});
  MultiHeadAttention at_once(
      {.d_in = D, .d_out = D, .context_length = T, .num_heads = H, .out_proj = false});
  give_heads(at_once, loop);
  Array x = Array::uninitialised({1, T, D});
  init::rand(x);

  show("heads", H);
  show("head_width", D / H);
  show("width", D);
  show("tokens", T);
  show("multiplications", 3 * T * D * D + 2 * T * T * D);
  show("products_in_loop", 5 * H);
  show("products_at_once", int64_t{5});
  show("runs", runs);
  const int64_t loop_us = fastest_us(runs, [&] { (void)loop(Tensor(x)); });
  const int64_t at_once_us = fastest_us(runs, [&] { (void)at_once(Tensor(x)); });
  show("loop_us", loop_us);
  show("at_once_us", at_once_us);
  show("ratio", formatted("%.1f", static_cast<double>(loop_us) /
                                      static_cast<double>(std::max<int64_t>(at_once_us, 1))));
  show("difference", largest_difference(loop(Tensor(x)), at_once(Tensor(x))));
}

}  // namespace

std::vector<Step> cost_steps() {
  return {{"loop_over_heads", "What a loop over heads costs", "the book, 3.6.2",
           "tools/extras/tour/cost.cpp", cost_text, loop_over_heads}};
}

}  // namespace heed::tour
