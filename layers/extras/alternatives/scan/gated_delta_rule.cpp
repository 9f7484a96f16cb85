#include "layers/extras/alternatives/scan/gated_delta_rule.h"

#include "autograd/kernels/row_math.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/concat.h"
#include "autograd/ops/exp.h"
#include "autograd/ops/masked_fill.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/permute.h"
#include "autograd/ops/reshape.h"
#include "autograd/ops/slice.h"
#include "autograd/ops/tril.h"

namespace heed {

namespace {

struct DeltaSizes {
  int64_t batch, tokens, heads, d, e;

  static DeltaSizes of(const GatedDelta& in) {
    const Shape &q = in.queries.shape(), &v = in.values.shape(), &a = in.log_alpha.shape();
    require(
        q.rank() == 3 && in.keys.shape() == q && v.rank() == 3 && a.rank() == 3 &&
            in.beta.shape() == a && v[0] == q[0] && v[1] == q[1] && a[0] == q[0] && a[1] == q[1] &&
            a[2] >= 1 && q[2] % a[2] == 0 && v[2] % a[2] == 0,
        "gated_delta_rule: expected queries and keys (B, T, H d), values (B, T, H e), alpha and ",
        "beta (B, T, H), got ", q, ", ", in.keys.shape(), ", ", v, ", ", a, " and ",
        in.beta.shape());
    return {q[0], q[1], a[2], q[2] / a[2], v[2] / a[2]};
  }
};

// W (..., T, e) with (I + L) W = R: forward substitution by halves. L (..., T, T) has zeros on its
// diagonal and above.
Tensor solve(const Tensor& L, const Tensor& R) {
  const int64_t n = R.dim(-2), half = n / 2;
  if (n <= 1) {
    return R;
  }
  const auto block = [&](int64_t row, int64_t column) {
    const Tensor rows = slice(L, -2, row, row == 0 ? half : n);
    return slice(rows, -1, column, column == 0 ? half : n);
  };
  const Tensor first = solve(block(0, 0), slice(R, -2, 0, half));
  const Tensor rest = slice(R, -2, half, n) - matmul(block(half, 0), first);
  return concat({first, solve(block(half, half), rest)}, -2);
}

// g (B, H, T, 1): the sum of ln alpha up to each token.
Tensor running_sum(const Tensor& log_alpha) {
  const int64_t tokens = log_alpha.dim(2);
  const Tensor ones = tril(Tensor(Array::full({tokens, tokens}, 1)));
  return matmul(ones, log_alpha);
}

// D (B, H, T, T); 0 for later tokens s.
Tensor decays(const Tensor& g) {
  const int64_t tokens = g.dim(2);
  Mask later = Mask::uninitialised({tokens, tokens});
  for (int64_t i = 0; i < later.size() && !dry_run(); ++i) {
    later.mutable_data()[i] = i % tokens > i / tokens;
  }
  return exp(masked_fill(g - transpose(g, 2, 3), later, minus_infinity));
}

}  // namespace

Tensor gated_delta_rule(const GatedDelta& in, Array* memory) {
  const DeltaSizes n = DeltaSizes::of(in);
  const auto by_head = [&](const Tensor& x) {  // (B, H, T, width)
    return permute(reshape(x, {n.batch, n.tokens, n.heads, x.dim(2) / n.heads}), {0, 2, 1, 3});
  };
  const Tensor q = by_head(in.queries), k = by_head(in.keys), beta = by_head(in.beta);
  const Tensor g = running_sum(by_head(in.log_alpha)), decay = decays(g);
  Tensor news = by_head(in.values), y;
  if (memory != nullptr && *memory) {
    const Shape expected{n.batch, n.heads, n.d, n.e};
    require(memory->shape() == expected, "gated_delta_rule: expected a state ", expected, ", got ",
            memory->shape());
    news = news - exp(g) * matmul(k, Tensor(*memory));
    y = exp(g) * matmul(q, Tensor(*memory));
  }
  const Tensor overlaps = beta * decay * matmul(k, k, Trans::no, Trans::yes);
  const Tensor w = solve(tril(overlaps, -1), beta * news);
  const Tensor added = matmul(decay * matmul(q, k, Trans::no, Trans::yes), w);
  y = y ? y + added : added;
  if (memory != nullptr) {
    const Tensor last = slice(g, 2, n.tokens - 1, n.tokens);
    const Tensor sum = matmul(k, exp(last - g) * w, Trans::yes);
    *memory = (*memory ? sum + exp(last) * Tensor(*memory) : sum).value();
  }
  return reshape(permute(y, {0, 2, 1, 3}), {n.batch, n.tokens, n.heads * n.e});
}

}  // namespace heed
