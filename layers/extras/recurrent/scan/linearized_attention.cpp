#include "layers/extras/recurrent/scan/linearized_attention.h"

#include <limits>

#include "autograd/base/sum.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/concat.h"
#include "autograd/ops/exp.h"
#include "autograd/ops/masked_fill.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/permute.h"
#include "autograd/ops/relu.h"
#include "autograd/ops/reshape.h"
#include "autograd/ops/slice.h"
#include "autograd/ops/sum.h"
#include "autograd/ops/tril.h"
#include "autograd/ops/where.h"

namespace heed {

namespace {

// A sum of weights of at most this is 0: what is divided by it, and then multiplied by numbers of
// its size, stays finite.
constexpr real smallest_sum =
    std::numeric_limits<real>::min() / std::numeric_limits<real>::epsilon();

void check_heads(const Shape& queries, const Shape& keys, const Shape& values, int64_t num_heads) {
  require(queries.rank() == 3 && keys == queries && values == queries && num_heads >= 1 &&
              queries[2] % num_heads == 0,
          "linearized_attention: expected queries, keys and values (B, T, H d) of one shape with ",
          num_heads, " heads, got ", queries, ", ", keys, " and ", values);
}

void check_mask(const Mask& mask, const Shape& queries) {
  const int64_t batch = queries[0], tokens = queries[1];
  const bool fits = !mask || mask.shape() == Shape{batch, tokens} ||
                    mask.shape() == Shape{batch, 1, tokens, tokens} ||
                    mask.shape() == Shape{1, 1, tokens, tokens};
  require(fits, "linearized_attention: expected a mask (B, T) = (", batch, ", ", tokens,
          ") or (B, 1, T, T), got ", mask.shape());
}

// At 0 both slopes of phi are 1, and so is the sum of these.
Tensor phi(const Tensor& x) {
  const Tensor above = relu(x);
  return above + exp(x - above);
}

// S and z of earlier tokens, zeros at first, in one tensor (B, H, d + 1, d).
Tensor earlier_sums(const Array& sums, const Shape& heads) {
  const Shape expected{heads[0], heads[1], heads[3] + 1, heads[3]};
  require(!sums || sums.shape() == expected, "linearized_attention: expected sums ", expected,
          ", got ", sums.shape());
  return Tensor(sums ? sums : Array::zeros(expected));
}

}  // namespace

Tensor linearized_attention(const Tensor& queries, const Tensor& keys, const Tensor& values,
                            int64_t num_heads, const Mask& may_attend, Array* sums) {
  check_heads(queries.shape(), keys.shape(), values.shape(), num_heads);
  check_mask(may_attend, queries.shape());
  const int64_t batch = queries.dim(0), tokens = queries.dim(1), width = queries.dim(2);
  const auto by_head = [&](const Tensor& x) {  // (B, H, T, d)
    return permute(reshape(x, {batch, tokens, num_heads, width / num_heads}), {0, 2, 1, 3});
  };
  const Tensor fq = phi(by_head(queries)), fk = phi(by_head(keys)), v = by_head(values);
  Tensor weights = tril(matmul(fq, fk, Trans::no, Trans::yes));  // (B, H, T, T)
  if (may_attend) {
    const Mask hidden = logical_not(may_attend.current());
    weights = masked_fill(weights,
                          hidden.rank() == 2 ? hidden.reshaped({batch, 1, 1, tokens}) : hidden, 0);
  }
  Tensor total = sum(weights, -1, /*keepdim=*/true), mean = matmul(weights, v);
  if (sums != nullptr) {
    const Tensor earlier = earlier_sums(*sums, fq.shape());
    const int64_t d = fq.dim(3);
    mean = mean + matmul(fq, slice(earlier, 2, 0, d));
    total = total + matmul(fq, slice(earlier, 2, d, d + 1), Trans::no, Trans::yes);
    const Tensor added = concat({matmul(fk, v, Trans::yes), sum(fk, 2, /*keepdim=*/true)}, 2);
    *sums = (earlier + added).value();
  }
  const Mask some =  // NaN too
      map<uint8_t>(total.value(), [](real x) { return !(x <= smallest_sum); });
  const Tensor y = where(some, mean / where(some, total, real{1}), real{0});
  return reshape(permute(y, {0, 2, 1, 3}), {batch, tokens, width});
}

}  // namespace heed
