#include "layers/scan/linearized_attention.h"

#include <limits>
#include <vector>

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
Tensor phi_composed(const Tensor& x) {
  const Tensor above = relu(x);
  return above + exp(x - above);
}

Mask inverted(const Mask& mask) {
  Mask hidden = Mask::uninitialised(mask.shape());
  std::transform(mask.data(), mask.data() + mask.size(), hidden.mutable_data(),
                 [](uint8_t may) { return static_cast<uint8_t>(may == 0); });
  return hidden;
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
    const Mask hidden = inverted(may_attend.current());
    weights = masked_fill(weights,
                          hidden.rank() == 2 ? hidden.reshaped({batch, 1, 1, tokens}) : hidden, 0);
  }
  const Tensor total = sum(weights, -1, /*keepdim=*/true);
  Mask some = Mask::uninitialised(total.shape());
  std::transform(total.value().data(), total.value().data() + (dry_run() ? 0 : some.size()),
                 some.mutable_data(),
                 [](real v) { return static_cast<uint8_t>(v > smallest_sum); });
  const Tensor zero(Array::zeros({})), one(Array::full({}, 1));
  const Tensor mean = matmul(weights, by_head(values)) / where(some, total, one);
  return reshape(permute(where(some, mean, zero), {0, 2, 1, 3}), {batch, tokens, width});
}

namespace {

// Long enough for matrix products to run at their speed. Within a chunk the work for a token is
// proportional to its length, before it to the width of a head.
constexpr int64_t chunk_length = 64;

// y[i] = phi(x[i])
void phi(const real* x, int64_t n, real* y) {
  vector_map(x, y, n, [](real v) { return std::max(v, real{0}) + exp_of(std::min(v, real{0})); });
}

// dx[i] (+)= slope[i] * phi'(x[i]), given f = phi(x)
void phi_backward(const real* f, const real* slope, int64_t n, bool add, real* dx) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    dx[i] = (add ? dx[i] : 0) + slope[i] * std::min(f[i], real{1});
  }
}

// Sets what is right of the diagonal to 0.
void keep_lower_triangle(Matrix a) {
  for (int64_t r = 0; r < a.rows(); ++r) {
    std::fill(a.data() + r * a.step() + r + 1, a.data() + r * a.step() + a.columns(), real{0});
  }
}

// What a thread computes a chunk of one head with. Not from the pool, which the bodies of loops
// must not use.
struct Scratch {
  std::vector<real> fq, fk, v1, g1;  // phi(q), phi(k) (C, d);  v', g' (C, d + 1)
  std::vector<real> a, da;           // (C, C)
  std::vector<real> out, slopes;     // (C, d + 1), (C, d)
  std::vector<real> sums;            // S' or G' (d, d + 1)

  static Scratch& of_thread(int64_t d) {
    thread_local Scratch scratch;
    const auto grow = [](std::vector<real>& buffer, int64_t rows, int64_t columns) {
      buffer.resize(std::max(buffer.size(), static_cast<size_t>(rows * columns)));
    };
    for (auto* const buffer : {&scratch.fq, &scratch.fk, &scratch.slopes}) {
      grow(*buffer, chunk_length, d);
    }
    for (auto* const buffer : {&scratch.v1, &scratch.g1, &scratch.out}) {
      grow(*buffer, chunk_length, d + 1);
    }
    grow(scratch.a, chunk_length, chunk_length);
    grow(scratch.da, chunk_length, chunk_length);
    grow(scratch.sums, d, d + 1);
    return scratch;
  }
};

// A fused call: what its backward needs.
struct LinearizedAttention {
  int64_t batch, tokens, heads, width;  // of a head
  Array q, k, v;                        // (B, T, H d)
  Mask mask;                            // (B, T), or none
  Array y = {};                         // (B, T, H d)
  Array inverse = {};                   // 1 / den (B, H, T); 0 where nothing is attended to

  // `sums` is S' of all heads, or null at the first token.
  void forward(real* sums);
  void backward(const Array& dy, Grads& grads) const;

 private:
  // Tokens [first, first + length) of head h of sequence b.
  struct Chunk {
    int64_t b, h, first, length;
  };
  int64_t row_step() const { return heads * width; }
  int64_t offset(const Chunk& c) const {
    return (c.b * tokens + c.first) * row_step() + c.h * width;
  }
  const real* weights_of(const Chunk& c) const {
    return inverse.data() + (c.b * heads + c.h) * tokens + c.first;
  }
  // Calls body(chunk) for the chunks of head number i, from the first to the last or back.
  template <class Body>
  void for_chunks(int64_t i, bool backwards, Body&& body) const {
    const int64_t count = (tokens + chunk_length - 1) / chunk_length;
    for (int64_t n = 0; n < count; ++n) {
      const int64_t first = (backwards ? count - 1 - n : n) * chunk_length;
      body(Chunk{i / heads, i % heads, first, std::min(chunk_length, tokens - first)});
    }
  }
  // Runs body(i) for every head of every sequence, each on one thread.
  template <class Body>
  void for_heads(Body&& body) const {
    parallel_for(batch * heads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) body(i);
    });
  }
  void load_queries(const Chunk& c, Scratch& s) const;
  void load_keys_and_values(const Chunk& c, Scratch& s) const;
  void load_slopes(const Chunk& c, const real* dy, Scratch& s) const;
  bool is_last(const Chunk& c) const { return c.first + c.length == tokens; }
  void forward_chunk(const Chunk& c, Scratch& s, real* sums, bool keep, real* to_y,
                     real* to_inverse) const;
  void query_chunk(const Chunk& c, Scratch& s, const Grads::Target& dq) const;
  void key_chunk(const Chunk& c, Scratch& s, const Grads::Target& dk,
                 const Grads::Target& dv) const;
};

void LinearizedAttention::load_queries(const Chunk& c, Scratch& s) const {
  const real* const from = q.data() + offset(c);
  for (int64_t r = 0; r < c.length; ++r) {
    phi(from + r * row_step(), width, s.fq.data() + r * width);
  }
}

void LinearizedAttention::load_keys_and_values(const Chunk& c, Scratch& s) const {
  const real *const keys = k.data() + offset(c), *const values = v.data() + offset(c);
  const uint8_t* const counts = mask ? mask.data() + c.b * tokens + c.first : nullptr;
  for (int64_t r = 0; r < c.length; ++r) {
    real* const f = s.fk.data() + r * width;
    if (counts == nullptr || counts[r] != 0) {
      phi(keys + r * row_step(), width, f);
    } else {
      std::fill_n(f, width, real{0});
    }
    *std::copy_n(values + r * row_step(), width, s.v1.data() + r * (width + 1)) = 1;
  }
}

void LinearizedAttention::load_slopes(const Chunk& c, const real* dy, Scratch& s) const {
  const real *const slopes = dy + offset(c), *const mean = y.data() + offset(c);
  const real* const weight = weights_of(c);
  for (int64_t r = 0; r < c.length; ++r) {
    const real *const from = slopes + r * row_step(), *const y_r = mean + r * row_step();
    real* const to = s.g1.data() + r * (width + 1);
    real dot = 0;
#pragma omp simd reduction(+ : dot)
    for (int64_t i = 0; i < width; ++i) {
      to[i] = from[i] * weight[r];
      dot += to[i] * y_r[i];
    }
    to[width] = -dot;
  }
}

// `sums` is S' before the chunk, and then after it. Unless it is kept from call to call, it is 0
// before the first chunk, and nobody reads it after the last one.
void LinearizedAttention::forward_chunk(const Chunk& c, Scratch& s, real* sums, bool keep,
                                        real* to_y, real* to_inverse) const {
  load_queries(c, s);
  load_keys_and_values(c, s);
  const ConstMatrix fq(s.fq.data(), c.length, width), fk(s.fk.data(), c.length, width);
  const ConstMatrix v1(s.v1.data(), c.length, width + 1);
  const Matrix a(s.a.data(), c.length, c.length), out(s.out.data(), c.length, width + 1);
  const Matrix before(sums, width, width + 1);
  multiply(fq, fk.transposed(), into(a));
  keep_lower_triangle(a);
  multiply(a, v1, into(out));
  if (keep || c.first > 0) multiply(fq, before, into(out, true));
  for (int64_t r = 0; r < c.length; ++r) {
    const real* const sum = s.out.data() + r * (width + 1);
    const real weight = sum[width] > smallest_sum ? 1 / sum[width] : 0;
    to_inverse[r] = weight;
    real* const to = to_y + r * row_step();
#pragma omp simd
    for (int64_t i = 0; i < width; ++i) {
      to[i] = sum[i] * weight;
    }
  }
  if (keep || !is_last(c)) multiply(fk.transposed(), v1, into(before, true));
}

void LinearizedAttention::forward(real* sums) {
  y = Array::uninitialised(q.shape());
  inverse = Array::uninitialised({batch, heads, tokens});
  real *const to_y = y.mutable_data(), *const to_inverse = inverse.mutable_data();
  for_heads([=, this](int64_t i) {
    Scratch& s = Scratch::of_thread(width);
    const int64_t size = width * (width + 1);
    const bool keep = sums != nullptr;
    real* const before = keep ? sums + i * size : s.sums.data();
    if (!keep) {
      std::fill_n(before, size, real{0});
    }
    for_chunks(i, /*backwards=*/false, [&](const Chunk& c) {
      forward_chunk(c, s, before, keep, to_y + offset(c), to_inverse + i * tokens + c.first);
    });
  });
}

// dq of the chunk; s.sums is S' before it, and then after it.
void LinearizedAttention::query_chunk(const Chunk& c, Scratch& s, const Grads::Target& dq) const {
  load_queries(c, s);
  load_keys_and_values(c, s);
  const ConstMatrix fk(s.fk.data(), c.length, width), v1(s.v1.data(), c.length, width + 1);
  const ConstMatrix g1(s.g1.data(), c.length, width + 1);
  const Matrix da(s.da.data(), c.length, c.length), slopes(s.slopes.data(), c.length, width);
  const Matrix sums(s.sums.data(), width, width + 1);
  multiply(g1, v1.transposed(), into(da));
  keep_lower_triangle(da);
  multiply(da, fk, into(slopes));
  if (c.first > 0) multiply(g1, ConstMatrix(sums).transposed(), into(slopes, true));
  for (int64_t r = 0; r < c.length; ++r) {
    phi_backward(s.fq.data() + r * width, s.slopes.data() + r * width, width, dq.add,
                 dq.data + offset(c) + r * row_step());
  }
  if (!is_last(c)) multiply(fk.transposed(), v1, into(sums, true));
}

// dk and dv of the chunk; s.sums is G' after it, and then from it.
void LinearizedAttention::key_chunk(const Chunk& c, Scratch& s, const Grads::Target& dk,
                                    const Grads::Target& dv) const {
  load_queries(c, s);
  load_keys_and_values(c, s);
  const ConstMatrix fq(s.fq.data(), c.length, width), fk(s.fk.data(), c.length, width);
  const ConstMatrix v1(s.v1.data(), c.length, width + 1), g1(s.g1.data(), c.length, width + 1);
  const Matrix a(s.a.data(), c.length, c.length), da(s.da.data(), c.length, c.length);
  const Matrix slopes(s.slopes.data(), c.length, width);
  const Matrix sums(s.sums.data(), width, width + 1);
  if (dk.data != nullptr) {
    multiply(g1, v1.transposed(), into(da));
    keep_lower_triangle(da);
    multiply(ConstMatrix(da).transposed(), fq, into(slopes));
    if (!is_last(c)) multiply(v1, ConstMatrix(sums).transposed(), into(slopes, true));
    for (int64_t r = 0; r < c.length; ++r) {
      phi_backward(s.fk.data() + r * width, s.slopes.data() + r * width, width, dk.add,
                   dk.data + offset(c) + r * row_step());
    }
  }
  if (dv.data != nullptr) {
    const Matrix to(dv.data + offset(c), c.length, width, row_step());
    multiply(fq, fk.transposed(), into(a));
    keep_lower_triangle(a);
    multiply(ConstMatrix(a).transposed(), g1.columns(0, width), into(to, dv.add));
    if (!is_last(c)) multiply(fk, ConstMatrix(sums).columns(0, width), into(to, true));
  }
  if (c.first > 0) multiply(fq.transposed(), g1, into(sums, true));
}

void LinearizedAttention::backward(const Array& dy, Grads& grads) const {
  const Grads::Target none{nullptr, false};
  const Grads::Target dq = grads.needs(0) ? grads.target(0) : none;
  const Grads::Target dk = grads.needs(1) ? grads.target(1) : none;
  const Grads::Target dv = grads.needs(2) ? grads.target(2) : none;
  const real* const from = dy.data();
  for_heads([&](int64_t i) {
    Scratch& s = Scratch::of_thread(width);
    if (dq.data != nullptr) {
      std::fill_n(s.sums.data(), width * (width + 1), real{0});
      for_chunks(i, /*backwards=*/false, [&](const Chunk& c) {
        load_slopes(c, from, s);
        query_chunk(c, s, dq);
      });
    }
    if (dk.data != nullptr || dv.data != nullptr) {
      std::fill_n(s.sums.data(), width * (width + 1), real{0});
      for_chunks(i, /*backwards=*/true, [&](const Chunk& c) {
        load_slopes(c, from, s);
        key_chunk(c, s, dk, dv);
      });
    }
  });
}

// Multiplications and additions of the products of a forward pass, for dry runs, which skip loops.
int64_t forward_flops(const Shape& queries, int64_t heads) {
  const int64_t d = queries[2] / heads, chunk = std::min(chunk_length, queries[1]);
  return 2 * queries[0] * queries[1] * heads * (chunk * (2 * d + 1) + 2 * d * (d + 1));
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
  const Shape expected{call.batch, num_heads, call.width, call.width + 1};
  if (!sums) {
    sums = Array::zeros(expected);
  }
  require(sums.shape() == expected, "linearized_attention: expected sums ", expected, ", got ",
          sums.shape());
  call.forward(sums.mutable_data());
  return call.y;
}

}  // namespace heed
