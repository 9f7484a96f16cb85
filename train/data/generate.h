// Text out of a model, one token after the other.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "layers/module/module.h"
#include "train/data/tokenizer.h"

namespace heed {

struct SamplingOptions {
  double temperature = 1;        // logits are divided by it; 0: always the likeliest token
  std::optional<int64_t> top_k;  // choose among the k likeliest
  std::optional<double> top_p;   // ... the fewest of the likeliest whose probabilities reach p
  uint64_t seed = 123;
};

// Continues a prompt by `tokens` tokens, which are returned; `each` is told of every one as it
// comes. The model, ids (1, t) -> logits (1, t, V), sees the last context_length tokens. It runs in
// evaluation mode and is left as it was; no random stream of training moves. A model that takes a
// KeyValueCache reads each token once, until there are more than context_length.
//
// A token takes one number u in [0, 1) of a generator of its own: it is the first id, in the order
// of ids, at which the cumulative probability exceeds u. With top_k and top_p both, k is applied
// first. Tokens of equal logits count as likelier the lower their id.
//
// Throws ConfigError for an empty prompt or options out of range, DivergedError for logits that are
// NaN or infinite.
std::vector<int32_t> generate(Module& model, const std::vector<int32_t>& prompt, int64_t tokens,
                              const SamplingOptions& options, int64_t context_length,
                              const std::function<void(int32_t)>& each = {});

// The token of the largest logit; of equal ones the lowest. Throws DivergedError as generate().
int32_t likeliest(std::span<const real> logits);

// The token that logits (V) give for u.
int32_t choose_token(std::span<const real> logits, const SamplingOptions& options, double u);

// Text of tokens as they come, in whole characters: bytes of one that is not complete wait for the
// rest, bytes that cannot become one are shown as U+FFFD.
class TextStream {
 public:
  explicit TextStream(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  std::string push(int32_t id);
  // What is still waiting, when no more tokens come.
  std::string finish();

 private:
  std::string take(bool all);

  const Tokenizer& tokenizer_;
  std::string waiting_;
};

}  // namespace heed
