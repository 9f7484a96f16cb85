// What each operation refuses, and with which words.
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/concat.h"
#include "autograd/ops/cross_entropy.h"
#include "autograd/ops/divide_by_sum.h"
#include "autograd/ops/embedding.h"
#include "autograd/ops/feed_forward.h"
#include "autograd/ops/layer_norm.h"
#include "autograd/ops/masked_fill.h"
#include "autograd/ops/max.h"
#include "autograd/ops/mse.h"
#include "autograd/ops/permute.h"
#include "autograd/ops/pow.h"
#include "autograd/ops/rms_norm.h"
#include "autograd/ops/rotary.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/split.h"
#include "autograd/ops/stack.h"
#include "autograd/ops/tril.h"
#include "autograd/ops/var.h"
#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

namespace {

struct Refused {
  const char* says;
  Tensor (*call)();
};

template <class... N>
Tensor of(N... extents) {
  return Array::zeros({extents...});
}
template <class... N>
Mask no_mask(N... extents) {
  return Mask::zeros({extents...});
}
template <class... N>
Ids chosen(N... numbers) {
  return ids({static_cast<int64_t>(sizeof...(numbers))}, {numbers...});
}

const Refused by_shape[] = {
    {"add: shapes (2, 3) and (2,) do not broadcast: axis -1 is 3 and 2",
     [] { return of(2, 3) + of(2); }},
    {"divide: shapes (4, 3) and (2, 1) do not broadcast: axis -2 is 4 and 2",
     [] { return of(4, 3) / of(2, 1); }},
    {"pow: shapes (2, 3) and (2,) do not broadcast: axis -1 is 3 and 2",
     [] { return pow(of(2, 3), of(2)); }},
    {"where: shapes (2,) and (3,) do not broadcast: axis -1 is 2 and 3",
     [] { return where(no_mask(2), of(3), of(3)); }},
    {"masked_fill: expected a mask that broadcasts to x (2,), got (1, 2)",
     [] { return masked_fill(of(2), no_mask(1, 2), 0); }},
    {"masked_fill: shapes (2, 3) and (2,) do not broadcast: axis -1 is 3 and 2",
     [] { return masked_fill(of(2, 3), no_mask(2), 0); }},
    {"concat: expected at least one tensor, got none", [] { return concat({}, 0); }},
    {"concat: expected shapes that agree but on axis 1, got (2, 1) and, as number 1, (3, 1)",
     [] {
       return concat({of(2, 1), of(3, 1)}, 1);
     }},
    {"concat: expected shapes that agree but on axis 1, got (2, 1) and, as number 1, (2,)",
     [] {
       return concat({of(2, 1), of(2)}, 1);
     }},
    {"stack: expected at least one tensor, got none", [] { return stack({}); }},
    {"stack: expected tensors of one shape, got (2,) and, as number 1, (3,)",
     [] {
       return stack({of(2), of(3)});
     }},
    {"stack: expected an axis from -2 to 1, got 2", [] { return stack({of(2)}, 2); }},
    {"slice: expected 0 <= begin <= end <= 3 on axis 1 of x (2, 3), got [1, 4)",
     [] { return slice(of(2, 3), 1, 1, 4); }},
    {"slice: expected 0 <= begin <= end <= 3 on axis 1 of x (2, 3), got [2, 1)",
     [] { return slice(of(2, 3), 1, 2, 1); }},
    {"split: expected parts of size 1 or more, got 0", [] { return split(of(2, 3), 0, 1)[0]; }},
    {"split: expected sizes >= 0 that add up to 3, axis 1 of x (2, 3); got 2 sizes with sum 2",
     [] {
       return split(of(2, 3), std::vector<int64_t>{1, 1}, 1)[0];
     }},
    {"split: expected sizes >= 0 that add up to 3, axis 1 of x (2, 3); got 5 sizes with sum "
     "9223372036854775807",
     [] {
       constexpr int64_t huge = int64_t{1} << 62;
       return split(of(2, 3), std::vector<int64_t>{huge, huge, huge, huge, 3}, 1)[0];
     }},
    {"permute: expected 2 axes for x (2, 3), got 1", [] { return permute(of(2, 3), {0}); }},
    {"permute: expected every axis of x (2, 3) once, got axis 0 twice",
     [] {
       return permute(of(2, 3), {0, 0});
     }},
    {"shape: expected an axis from -2 to 1 of (2, 3), got 5",
     [] {
       return permute(of(2, 3), {0, 5});
     }},
    {"shape: expected an axis from -2 to 1 of (2, 3), got 2",
     [] { return transpose(of(2, 3), 0, 2); }},
    {"shape: expected an axis from -2 to 1 of (2, 3), got 2", [] { return sum(of(2, 3), 2); }},
    {"reshape: expected 6 elements as in (2, 3), got (4,)", [] { return reshape(of(2, 3), {4}); }},
    {"max: expected at least one element, got (0,)", [] { return max(of(0)); }},
    {"max: expected at least one element on axis 1, got (2, 0)", [] { return max(of(2, 0), 1); }},
    {"mean: expected at least one element, got (0,)", [] { return mean(of(0)); }},
    {"mean: expected at least one element on axis 1, got (2, 0)", [] { return mean(of(2, 0), 1); }},
    {"mse: expected two tensors of one shape, got (2,) and (2, 1)",
     [] { return mse(of(2), of(2, 1)); }},
    {"mse: expected at least one element, got (0,)", [] { return mse(of(0), of(0)); }},
    {"var: expected more than 1 elements (the correction), got 1 of (2, 1)",
     [] { return var(of(2, 1), 1); }},
    {"var: expected more than 0 elements (the correction), got 0 of (0,)",
     [] { return var(of(0), {.correction = 0}); }},
    {"var: expected a correction of 0 or more, got -1",
     [] { return var(of(3), {.correction = -1}); }},
    {"tril: expected matrices (..., m, n), got (3,)", [] { return tril(of(3)); }},
    {"triu: expected matrices (..., m, n), got ()", [] { return triu(of()); }}};

const Refused by_numbers[] = {
    {"softmax: expected x (..., n >= 1), got (2, 0)", [] { return softmax(of(2, 0)); }},
    {"softmax: expected x (..., n >= 1), got ()", [] { return softmax(of()); }},
    {"log_softmax: expected x (..., n >= 1), got (2, 0)", [] { return log_softmax(of(2, 0)); }},
    {"divide_by_sum: expected x (..., n), got ()", [] { return divide_by_sum(of()); }},
    {"layer_norm: expected scale (3,) for x (2, 3), got (2,)",
     [] { return layer_norm(of(2, 3), of(2), {}); }},
    {"layer_norm: expected shift (3,) for x (2, 3), got (2,)",
     [] { return layer_norm(of(2, 3), of(3), of(2)); }},
    {"layer_norm: expected x (..., n >= 1), got (2, 0)",
     [] { return layer_norm(of(2, 0), of(0), {}); }},
    {"layer_norm: expected eps >= 0, got -1", [] { return layer_norm(of(2, 3), of(3), {}, -1); }},
    {"rms_norm: expected scale (3,) for x (2, 3), got (2,)",
     [] { return rms_norm(of(2, 3), of(2)); }},
    {"rms_norm: expected x (..., n >= 1), got ()", [] { return rms_norm(of(), of(1)); }},
    {"matmul: expected matrices (..., m, k) and (..., k, n), got (3,) and (3, 2)",
     [] { return matmul(of(3), of(3, 2)); }},
    {"matmul: expected (..., m, k) @ (..., k, n), got (2, 3) @ (4, 5): k is 3 and 4",
     [] { return matmul(of(2, 3), of(4, 5)); }},
    {"matmul: shapes (2,) and (3,) do not broadcast: axis -1 is 2 and 3",
     [] { return matmul(of(2, 2, 3), of(3, 3, 5)); }},
    {"linear: expected x (..., in) and weight (out, in), got (2, 3) and (3, 2)",
     [] { return linear(of(2, 3), of(3, 2), {}); }},
    {"linear: expected bias (3,) for weight (3, 2) (out, in), got (2,)",
     [] { return linear(of(2), of(3, 2), of(2)); }},
    {"linear: expected x (..., in) and weight (out, in), got () and (3, 2)",
     [] { return linear(of(), of(3, 2), {}); }},
    {"linear: expected x (..., in) and weight (out, in), got (2, 3) and (3, 2)",
     [] {
       return feed_forward(of(2, 3), {of(3, 2), {}}, Gelu::erf, {of(4, 3), {}});
     }},
    {"linear: expected x (..., in) and weight (out, in), got (2, 4) and (3, 2)",
     [] {
       return feed_forward(of(2, 3), {of(4, 3), {}}, Gelu::erf, {of(3, 2), {}});
     }},
    {"embedding: expected ids from 0 to 49, got 50 at (1, 1); the table has as many rows as the "
     "vocabulary",
     [] {
       return embedding(of(50, 2), ids({2, 2}, {0, 1, 2, 50}));
     }},
    {"embedding: expected ids from 0 to 49, got -1 at (1,); the table has as many rows as the "
     "vocabulary",
     [] { return embedding(of(50, 2), chosen(0, -1, 2)); }},
    {"embedding: expected weight (V, D), got (2,)", [] { return embedding(of(2), chosen(0)); }},
    {"cross_entropy: expected targets from 0 to 2 or -100 (ignored), got 3 at (1,)",
     [] { return cross_entropy(of(2, 3), chosen(0, 3)); }},
    {"cross_entropy: expected targets of shape (2,) for logits (2, 3), got (3,)",
     [] { return cross_entropy(of(2, 3), chosen(0, 0, 0)); }},
    {"cross_entropy: expected logits (..., V >= 1), got (2, 0)",
     [] { return cross_entropy(of(2, 0), chosen(0, 0)); }},
    {"rotary: expected x (..., T, heads * 6) for the table (11, 6), got (2, 8)",
     [] { return rotary(of(2, 8), rotary_table(11, 6)); }},
    {"rotary: expected a table (positions, even number up to the head width 4), got (11, 6)",
     [] { return rotary(of(2, 8), rotary_table(11, 6), 0, 4); }},
    {"rotary: expected at most 11 positions, got 5 from 7 on",
     [] { return rotary(of(5, 6), rotary_table(11, 6), 7); }},
    {"rotary: expected at most 11 positions, got 5 from 9223372036854775807 on",
     [] { return rotary(of(5, 6), rotary_table(11, 6), std::numeric_limits<int64_t>::max()); }},
    {"rotary_table: expected an even head width, got 5",
     [] { return Tensor(rotary_table(3, 5)); }}};

template <size_t count>
void check_refusals(const Refused (&calls)[count]) {
  for (const Refused& c : calls) {
    std::string said = "no error";
    try {
      (void)c.call();
    } catch (const ShapeError& error) {
      said = error.what();
    }
    CHECK_MESSAGE(said == c.says, said);
  }
}

}  // namespace

TEST_CASE("all refusals: shapes that no operation takes") { check_refusals(by_shape); }

TEST_CASE("all refusals: sizes, ids and numbers out of range") { check_refusals(by_numbers); }
