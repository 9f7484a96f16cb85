// Text generation: sampling from a model, token by token.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "layers/module/module.h"

namespace heed {

struct SamplingOptions {
  double temperature = 1;        // logits are divided by it; 0: greedy
  std::optional<int64_t> top_k;  // sample from the k most likely tokens
  std::optional<double> top_p;   // nucleus: the smallest set with total probability p
  uint64_t seed = 123;
};

// Continues a prompt by `tokens` tokens and returns them. Calls `each(token)` for every generated
// token. The model maps ids (1, t) to logits (1, t, V) and sees the last context_length tokens. It
// runs in evaluation mode and is restored afterwards; the random streams of training are not used.
// A model that takes a Cache processes each token once, until there are more than
// context_length.
//
// Every token uses one number u in [0, 1) from a separate generator: the token is the first id, in
// ascending order, at which the cumulative probability exceeds u. If both top_k and top_p are
// given, k is applied first. Among tokens with equal logits the lowest ids count as most likely.
//
// Ends before the next token, with fewer of them, once `stop` returns true.
//
// Throws ConfigError for an empty prompt or options out of range, DivergedError if a logit is NaN
// or infinite.
std::vector<int32_t> generate(Module& model, const std::vector<int32_t>& prompt, int64_t tokens,
                              const SamplingOptions& options, int64_t context_length,
                              const std::function<void(int32_t)>& each = {},
                              const std::function<bool()>& stop = {});

// The token with the largest logit, the lowest id among equals. Throws DivergedError as generate().
int32_t likeliest(std::span<const real> logits);
// The same at the last place of logits (..., V).
int32_t likeliest(const Array& logits);

// The token that the distribution of logits (V) gives for u in [0, 1).
int32_t choose_token(std::span<const real> logits, const SamplingOptions& options, double u);

}  // namespace heed
