#include "layers/extras/recurrent/scan/linearized_attention.h"

#include <limits>
#include <numeric>

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/exp.h"
#include "autograd/ops/masked_fill.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/permute.h"
#include "autograd/ops/relu.h"
#include "autograd/ops/reshape.h"
#include "autograd/ops/sum.h"
#include "autograd/ops/tril.h"
#include "autograd/ops/where.h"
#include "layers/extras/recurrent/scan/chunk.h"

namespace heed {

using namespace scan;

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
Tensor phi_composed(const Tensor& x) {
  const Tensor above = relu(x);
  return above + exp(x - above);
}

}  // namespace

Tensor linearized_attention_composed(const Tensor& queries, const Tensor& keys,
                                     const Tensor& values, int64_t num_heads,
                                     const Mask& may_attend) {
  check_heads(queries.shape(), keys.shape(), values.shape(), num_heads);
  check_mask(may_attend, queries.shape());
  const int64_t batch = queries.dim(0), tokens = queries.dim(1), width = queries.dim(2);
  const auto by_head = [&](const Tensor& x) {  // (B, H, T, d)
    return permute(reshape(x, {batch, tokens, num_heads, width / num_heads}), {0, 2, 1, 3});
  };
  const Tensor fq = phi_composed(by_head(queries)), fk = phi_composed(by_head(keys));
  Tensor weights = tril(matmul(fq, fk, Trans::no, Trans::yes));  // (B, H, T, T)
  if (may_attend) {
    const Mask hidden = logical_not(may_attend.current());
    weights = masked_fill(weights,
                          hidden.rank() == 2 ? hidden.reshaped({batch, 1, 1, tokens}) : hidden, 0);
  }
  const Tensor total = sum(weights, -1, /*keepdim=*/true);
  const Mask some =  // NaN too
      map<uint8_t>(total.value(), [](real v) { return !(v <= smallest_sum); });
  const Tensor mean = matmul(weights, by_head(values)) / where(some, total, real{1});
  return reshape(permute(where(some, mean, real{0}), {0, 2, 1, 3}), {batch, tokens, width});
}

namespace {

// A fused call: what its backward needs.
struct LinearizedAttention {
  int64_t batch, tokens, heads, width;  // of a head
  Array q, k, v;                        // (B, T, H d)
  Mask mask;                            // (B, T), or none
  Array y = {};                         // (B, T, H d)
  Array inverse = {};                   // 1 / den (B, H, T); 0 where nothing is attended to
  Array before = {};                    // S and z before each chunk (B, H, chunks, d + 1, d)

  // `kept` holds S and z of all heads, or is null at the first token.
  void forward(real* kept);
  void backward(const Array& dy, Grads& grads) const;

 private:
  // Tokens [first, first + length) of head h of sequence b.
  struct Chunk {
    int64_t b, h, number, first, length;
    bool last;
  };
  int64_t chunks() const { return (tokens + chunk_length - 1) / chunk_length; }
  Chunk chunk(int64_t head, int64_t n) const {
    const int64_t first = n * chunk_length;
    return {head / heads,     head % heads, n, first, std::min(chunk_length, tokens - first),
            n + 1 == chunks()};
  }
  int64_t row_step() const { return heads * width; }
  int64_t offset(const Chunk& c) const {
    return (c.b * tokens + c.first) * row_step() + c.h * width;
  }
  int64_t head_row(const Chunk& c) const { return (c.b * heads + c.h) * tokens + c.first; }
  // The chunk's part of an array (B, T, H d), and of scratch memory.
  template <class T>
  BasicMatrix<T> of_head(T* data, const Chunk& c) const {
    return {data + offset(c), c.length, width, row_step()};
  }
  Matrix rows(std::vector<real>& buffer, const Chunk& c) const {
    return {buffer.data(), c.length, width};
  }
  // Where in `before` its sums are.
  int64_t sums_at(const Chunk& c) const {
    return ((c.b * heads + c.h) * chunks() + c.number) * (width + 1) * width;
  }
  void load_features(const Chunk& c, Scratch& s) const;
  void load_slopes(const Chunk& c, const real* dy, Scratch& s) const;
  void forward_chunk(const Chunk& c, Scratch& s, const Sums* earlier, real* to_y,
                     real* to_inverse) const;
  void query_slopes(const Chunk& c, Scratch& s, const Grads::Target& dq) const;
  void key_slopes(const Chunk& c, Scratch& s, const Sums& later, const Grads::Target& dk) const;
  void value_slopes(const Chunk& c, Scratch& s, const Sums& later, const Grads::Target& dv) const;
  void put_slopes(const Chunk& c, const std::vector<real>& features, const Scratch& s,
                  const Grads::Target& to) const;
};

// phi(q) and phi(k); 0 for a key that the mask hides.
void LinearizedAttention::load_features(const Chunk& c, Scratch& s) const {
  const uint8_t* const counts = mask ? mask.data() + c.b * tokens + c.first : nullptr;
  for (int64_t r = 0; r < c.length; ++r) {
    const int64_t at = offset(c) + r * row_step();
    phi(q.data() + at, width, s.fq.data() + r * width);
    if (counts == nullptr || counts[r] != 0) {
      phi(k.data() + at, width, s.fk.data() + r * width);
    } else {
      std::fill_n(s.fk.data() + r * width, width, real{0});
    }
  }
}

// g and c.
void LinearizedAttention::load_slopes(const Chunk& c, const real* dy, Scratch& s) const {
  const real* const weight = inverse.data() + head_row(c);
  for (int64_t r = 0; r < c.length; ++r) {
    const int64_t at = offset(c) + r * row_step();
    real* const g = s.g.data() + r * width;
    std::fill_n(g, width, real{0});
    add_multiple(weight[r], dy + at, width, g);
    s.c[static_cast<size_t>(r)] = -row_dot(g, y.data() + at, width);
  }
}

// `earlier`: S and z before the chunk, or null where there is nothing.
void LinearizedAttention::forward_chunk(const Chunk& c, Scratch& s, const Sums* earlier, real* to_y,
                                        real* to_inverse) const {
  const ConstMatrix fq = rows(s.fq, c), fk = rows(s.fk, c);
  const Matrix a(s.a.data(), c.length, c.length), to = of_head(to_y, c);
  multiply(fq, fk.transposed(), into(a));
  keep_lower_triangle(a);
  multiply(a, of_head(v.data(), c), into(to));
  if (earlier != nullptr) multiply(fq, earlier->matrix(), into(to, true));
  for (int64_t r = 0; r < c.length; ++r) {
    const real* const weights = a.data() + r * a.step();
    real sum = std::accumulate(weights, weights + r + 1, real{0});
    if (earlier != nullptr) sum += row_dot(fq.data() + r * width, earlier->vector(), width);
    const real weight = sum > smallest_sum ? 1 / sum : 0;
    real* const y_r = to.data() + r * to.step();
    std::transform(y_r, y_r + width, y_r, [weight](real x) { return x * weight; });
    to_inverse[head_row(c) + r] = weight;
  }
}

void LinearizedAttention::forward(real* kept) {
  const Shape of_sums{batch, heads, chunks(), width + 1, width};
  y = Array::uninitialised(q.shape());
  inverse = Array::uninitialised({batch, heads, tokens});
  before = Array::uninitialised(kept == nullptr ? of_sums : Shape{0});
  real *const to_y = y.mutable_data(), *const to_inverse = inverse.mutable_data();
  real* const saved = before.mutable_data();
  parallel_each(batch * heads, 1, [=, this](int64_t i) {
    Scratch& s = Scratch::of_thread(width);
    const Sums sums =
        kept != nullptr ? Sums{kept + i * (width + 1) * width, width} : s.empty_sums(width);
    for (int64_t n = 0; n < chunks(); ++n) {
      const Chunk c = chunk(i, n);
      load_features(c, s);
      if (kept == nullptr) std::copy_n(sums.data, sums.size(), saved + sums_at(c));
      forward_chunk(c, s, n > 0 || kept != nullptr ? &sums : nullptr, to_y, to_inverse);
      if (!c.last || kept != nullptr) sums.add(rows(s.fk, c), of_head(v.data(), c), nullptr);
    }
  });
}

// Adds dphi, in s.slopes, times phi' to the gradient of queries or keys.
void LinearizedAttention::put_slopes(const Chunk& c, const std::vector<real>& features,
                                     const Scratch& s, const Grads::Target& to) const {
  for (int64_t r = 0; r < c.length; ++r) {
    phi_backward(features.data() + r * width, s.slopes.data() + r * width, width, to.add,
                 to.data + offset(c) + r * row_step());
  }
}

void LinearizedAttention::query_slopes(const Chunk& c, Scratch& s, const Grads::Target& dq) const {
  multiply(Matrix(s.da.data(), c.length, c.length), rows(s.fk, c), into(rows(s.slopes, c)));
  if (c.first > 0) {
    const ConstMatrix sums(before.data() + sums_at(c), width, width);  // S, and below it z
    multiply(rows(s.g, c), sums.transposed(), into(rows(s.slopes, c), true));
    for (int64_t r = 0; r < c.length; ++r) {
      add_multiple(s.c[static_cast<size_t>(r)], sums.data() + width * width, width,
                   s.slopes.data() + r * width);
    }
  }
  put_slopes(c, s.fq, s, dq);
}

// `later`: G and h after the chunk.
void LinearizedAttention::key_slopes(const Chunk& c, Scratch& s, const Sums& later,
                                     const Grads::Target& dk) const {
  const ConstMatrix da(s.da.data(), c.length, c.length);
  multiply(da.transposed(), rows(s.fq, c), into(rows(s.slopes, c)));
  if (!c.last) {
    multiply(of_head(v.data(), c), ConstMatrix(later.matrix()).transposed(),
             into(rows(s.slopes, c), true));
    for (int64_t r = 0; r < c.length; ++r) {
      add_multiple(1, later.vector(), width, s.slopes.data() + r * width);
    }
  }
  put_slopes(c, s.fk, s, dk);
}

void LinearizedAttention::value_slopes(const Chunk& c, Scratch& s, const Sums& later,
                                       const Grads::Target& dv) const {
  const Matrix a(s.a.data(), c.length, c.length);
  multiply(rows(s.fq, c), rows(s.fk, c).transposed(), into(a));
  keep_lower_triangle(a);
  multiply(a.transposed(), rows(s.g, c), into(of_head(dv.data, c), dv.add));
  if (!c.last) multiply(rows(s.fk, c), later.matrix(), into(of_head(dv.data, c), true));
}

void LinearizedAttention::backward(const Array& dy, Grads& grads) const {
  const Grads::Target dq = grads.target_if_needed(0), dk = grads.target_if_needed(1),
                      dv = grads.target_if_needed(2);
  parallel_each(batch * heads, 1, [&, from = dy.data()](int64_t i) {
    Scratch& s = Scratch::of_thread(width);
    const Sums later = s.empty_sums(width);
    for (int64_t n = chunks() - 1; n >= 0; --n) {
      const Chunk c = chunk(i, n);
      load_features(c, s);
      load_slopes(c, from, s);
      const Matrix da(s.da.data(), c.length, c.length);
      multiply(rows(s.g, c), of_head(v.data(), c).transposed(), into(da));
      keep_lower_triangle(da, s.c.data());
      if (dq.data != nullptr) query_slopes(c, s, dq);
      if (dk.data != nullptr) key_slopes(c, s, later, dk);
      if (dv.data != nullptr) value_slopes(c, s, later, dv);
      if (n > 0) later.add(rows(s.fq, c), rows(s.g, c), s.c.data());
    }
  });
}

// Multiplications and additions of the products of a forward pass, for dry runs, which skip loops.
int64_t forward_flops(const Shape& queries, int64_t heads) {
  const int64_t d = queries[2] / heads, chunk = std::min(chunk_length, queries[1]);
  return 2 * queries[0] * queries[1] * heads *
         (chunk * 2 * d + (queries[1] > chunk ? 2 * d * d : 0));
}

LinearizedAttention call_of(const Array& queries, const Array& keys, const Array& values,
                            int64_t num_heads, const Mask& mask) {
  if (dry_run()) {
    count_flops(forward_flops(queries.shape(), num_heads));
  }
  return {.batch = queries.dim(0),
          .tokens = queries.dim(1),
          .heads = num_heads,
          .width = queries.dim(2) / num_heads,
          .q = queries,
          .k = keys,
          .v = values,
          .mask = mask};
}

}  // namespace

Tensor linearized_attention(const Tensor& queries, const Tensor& keys, const Tensor& values,
                            int64_t num_heads, const Mask& may_attend) {
  check_heads(queries.shape(), keys.shape(), values.shape(), num_heads);
  check_mask(may_attend, queries.shape());
  if (!fused() || (may_attend && may_attend.rank() == 4)) {
    return linearized_attention_composed(queries, keys, values, num_heads, may_attend);
  }
  LinearizedAttention call = call_of(queries.value(), keys.value(), values.value(), num_heads,
                                     may_attend ? may_attend.current() : Mask());
  call.forward(nullptr);
  Array y = call.y;
  return record("linearized_attention", std::move(y), {queries, keys, values},
                [call = std::move(call)](const Array& dy, Grads& grads) {
                  if (dry_run()) {
                    count_flops(5 * forward_flops(call.q.shape(), call.heads) / 2);
                  }
                  call.backward(dy, grads);
                });
}

Array linearized_attention_step(const Array& queries, const Array& keys, const Array& values,
                                int64_t num_heads, Array& sums) {
  check_heads(queries.shape(), keys.shape(), values.shape(), num_heads);
  LinearizedAttention call = call_of(queries, keys, values, num_heads, {});
  const Shape expected{call.batch, num_heads, call.width + 1, call.width};
  if (!sums) {
    sums = Array::zeros(expected);
  }
  require(sums.shape() == expected, "linearized_attention: expected sums ", expected, ", got ",
          sums.shape());
  call.forward(sums.mutable_data());
  return call.y;
}

}  // namespace heed
