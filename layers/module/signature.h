// What a layer takes, and what its output can be relied on for. A layer declares it once, in
// signature(); `heed forward`, `heed inspect`, text generation and all checks follow it.
//   Signature signature() const override {
//     return {.width = config.d_in, .mask = true, .causal = true};
//   }
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace heed {

struct Signature {
  // What it reads: Input::x (B, T, width), pictures x (B, channels, T, width), or Input::ids (B, T)
  // in [0, vocab_size).
  bool ids = false;
  int64_t width = 0;     // 0: any, and the output is as wide
  int64_t channels = 0;  // 0: no pictures
  int64_t vocab_size = 0;
  std::optional<int64_t> longest = {};  // the largest T; none: there is no limit
  int64_t unit = 1;                     // T is a multiple of this: rows of pictures in patches

  // A second sequence that it reads: Input::context (B, S, context_width) next to x, or
  // Input::source_ids (B, S) in [0, source_vocab_size) next to ids.
  bool context = false;
  int64_t context_width = 0;  // 0: that of x
  int64_t source_vocab_size = 0;
  std::optional<int64_t> source_longest = {};

  // It reads Input::mask or, next to source_ids, Input::source_mask.
  bool mask = false;
  // The output has a row for each token, and row t depends on no later token of x or ids. (It may
  // depend on the whole second sequence.)
  bool causal = false;
  // Row t has the same bits whatever the later tokens are. Not where they decide how many rows a
  // product of matrices has, which may then round otherwise.
  bool exact = true;
  // It can be given a few tokens at a time, with earlier ones in Input::cache.
  bool cache = false;
  // With a cache it reads any number of tokens, more than `longest` too, and keeps a fixed number.
  bool unbounded = false;
  // With a cache it takes several sequences at once, too.
  bool cache_batch = false;

  // The signature of a layer that computes every token independently.
  static Signature of_tokens(int64_t width) {
    return {.width = width, .causal = true, .cache = true, .unbounded = true, .cache_batch = true};
  }

  // The number of tokens nearest to `wanted` that the layer takes.
  int64_t tokens_near(int64_t wanted) const {
    return std::max(unit, std::min(wanted, longest.value_or(wanted)) / unit * unit);
  }

  // The signature of this layer followed by `next`.
  Signature then(const Signature& next) const {
    Signature both = *this;
    both.width = width > 0 || ids ? width : next.width;
    both.longest = longest && next.longest ? std::min(*longest, *next.longest)
                                           : (longest ? longest : next.longest);
    if (next.context) {
      both.context = true;
      both.context_width = next.context_width;
    }
    both.mask = mask || next.mask;
    both.causal = causal && next.causal;
    both.exact = exact && next.exact;
    both.cache = cache && next.cache;
    both.unbounded = unbounded && next.unbounded;
    both.cache_batch = cache_batch && next.cache_batch;
    return both;
  }
};

}  // namespace heed
