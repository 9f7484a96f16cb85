// Dropout masks: which elements stay, and the factor 0 or 1/(1 - p) each element gets.
//
// A mask is made once (it may draw from a generator) and then read block by block, in any order,
// from any thread. Nothing in here opens threads: callers cut the range.
#pragma once

#include <cstdint>

#include "autograd/array/array.h"
#include "autograd/base/real.h"
#include "autograd/random/generator.h"
#include "autograd/random/streams.h"

namespace heed {

// MKL's multiplicative congruential generator, x_{i+1} = 1132489760 x_i mod (2^31 - 1).
// Element i is x_i = x_0 * 1132489760^i, so a block can start anywhere.
// Source: MKL vector statistics notes, MCG31m1; used by PyTorch on Linux up to 2.6.
struct Mcg31 {
  static constexpr uint32_t kModulus = 2147483647;
  static constexpr uint32_t kMultiplier = 1132489760;

  uint32_t x0 = 1;  // in [1, kModulus - 1]

  static Mcg31 draw(Generator& generator);  // one word; 0 becomes 1
  uint32_t at(int64_t i) const;             // x_i

  // x / (2^31 - 1) < 1 - p in double, for every x in [0, 2^31 - 2], is x < threshold(p).
  static uint32_t threshold(double p);
};

// The mask of one dropout call over n elements. Copies share the stored bits.
class DropoutMask {
 public:
  DropoutMask() = default;  // keeps everything, factor 1

  bool is_identity() const { return kind_ == Kind::identity; }  // p == 0, or not training
  real factor() const {
    return factor_;
  }  // of a kept element: 1 / (1 - p), rounded as PyTorch does

  // Element i of the mask is m_i = factor() if kept, else 0. Each call serves the elements
  // [first, first + n) and has arrays of n; the caller keeps first + n within the mask.
  void scale(int64_t first, int64_t n, real* out) const;  // out_j = m
  void multiply(int64_t first, int64_t n, const real* in,
                real* out) const;  // out_j = in_j * m; in == out is fine
  // out_j = in_j if kept, else -in_j (sign bit flipped, 0 becomes -0): for values >= 0 whose sign
  // then says "dropped". in == out is fine.
  void sign(int64_t first, int64_t n, const real* in, real* out) const;

 private:
  enum class Kind { identity, zero, mcg31, mt19937 };
  friend DropoutMask make_dropout_mask(Generator&, DropoutStream, double, int64_t, bool);

  template <class F>
  void for_blocks(int64_t first, int64_t n, F&& body) const;

  Kind kind_ = Kind::identity;
  real factor_ = 1;
  // An element is kept when its x < threshold. mcg31: x_i. mt19937: 1 - its bit. Else: 0.
  uint32_t threshold_ = 1;
  Mcg31 mcg31_;
  Mask bits_;  // mt19937: bit i % 8 of byte i / 8 is 1 if element i is kept
};

// The one place that decides what a dropout call draws:
//   not training, p == 0 or n == 0   nothing, the identity
//   p == 1                           nothing, all zero
//   mcg31                            one word
//   mt19937                          two words an element
// ConfigError unless 0 <= p <= 1, ShapeError unless n >= 0. In a dry run nothing is drawn.
DropoutMask make_dropout_mask(Generator& generator, DropoutStream stream, double p, int64_t n,
                              bool training = true);

// The words that all masks of dry runs so far would have drawn.
uint64_t words_of_dry_masks();

}  // namespace heed
