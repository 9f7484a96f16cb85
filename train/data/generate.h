// Text generation: sampling from a model, token by token.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "layers/module/module.h"

namespace heed {

// A generated token, and what it was chosen from.
struct TokenChoice {
  int32_t id = 0;
  std::span<const real> logits;     // (V), as the model gives them
  std::span<const double> weights;  // (V), in proportion to which the token was drawn
};

struct SamplingOptions {
  double temperature = 1;        // logits are divided by it; 0: greedy
  std::optional<int64_t> top_k;  // sample from the k most likely tokens
  std::optional<double> top_p;   // nucleus: the smallest set with total probability p
  uint64_t seed = 123;
  std::optional<double> min_p = {};  // drop tokens less likely than p times the most likely one
  // Logits of tokens that came before are divided by it; negative ones are multiplied.
  double repetition_penalty = 1;
  std::function<void(const TokenChoice&)> watch = {};  // called for every generated token
  std::vector<int64_t> ends = {};                      // after one of these tokens nothing comes
  bool is_end(int32_t id) const { return std::find(ends.begin(), ends.end(), id) != ends.end(); }
};

// Continues a prompt by `tokens` tokens and returns them. Calls `each(token)` for every generated
// token. The model maps ids (1, t) to logits (1, t, V) and sees the last context_length tokens. It
// runs in evaluation mode and is restored afterwards; the random streams of training are not used.
// A model that takes a Cache processes each token once, until there are more than context_length;
// an unbounded one (signature.h) after that, too: it sees all tokens, in constant memory.
//
// Every token uses one number u in [0, 1) from a separate generator: the token is the first id, in
// ascending order, at which the cumulative probability exceeds u. The options are applied in the
// order of Hugging Face's transformers: repetition_penalty, temperature, top_k, top_p, min_p. Among
// tokens with equal logits the lowest ids count as most likely.
//
// Ends with fewer tokens once `stop` returns true, and with one of options.ends.
//
// Throws ConfigError for an empty prompt or options out of range, DivergedError if a logit is NaN
// or infinite.
std::vector<int32_t> generate(Module& model, const std::vector<int32_t>& prompt, int64_t tokens,
                              const SamplingOptions& options, int64_t context_length,
                              const std::function<void(int32_t)>& each = {},
                              const std::function<bool()>& stop = {});
// Several continuations, number k by options[k], in step: a model whose cache takes several
// sequences (signature.h) reads its weights once for a token of each. Calls each(k, token), and
// stop(k). A continuation is the same as alone, but for the rounding of products with several rows.
std::vector<std::vector<int32_t>> generate(Module& model, const std::vector<int32_t>& prompt,
                                           int64_t tokens, std::span<const SamplingOptions> options,
                                           int64_t context_length,
                                           const std::function<void(size_t, int32_t)>& each,
                                           const std::function<bool(size_t)>& stop);

// The token with the largest logit, the lowest id among equals. Throws DivergedError as generate().
int32_t likeliest(std::span<const real> logits);
// The same at the last place of logits (..., V).
inline int32_t likeliest(const Array& logits) {
  return likeliest(logits.span().last(static_cast<size_t>(logits.dim(-1))));
}

// The weights (V) in proportion to which tokens are drawn from logits (V). `before`: the tokens
// that the repetition penalty is for.
std::vector<double> sampling_weights(std::span<const real> logits, const SamplingOptions& options,
                                     std::span<const int32_t> before = {});
// All tokens, those of the largest weights first.
std::vector<size_t> ranking(std::span<const double> weights);
// The token that weights (V) give for u in [0, 1).
int32_t choose_token(std::span<const double> weights, double u);

}  // namespace heed
