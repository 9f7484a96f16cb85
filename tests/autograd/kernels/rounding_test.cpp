// A number has the same bits whatever is computed next to it, for each of our own kernels that the
// CPU can run. Each size of register tile rounds alike: one that multiplies and adds where another
// one fuses the two is found here.
#include <cstring>
#include <string>

#include "autograd/kernels/choice.h"
#include "tests/support/attention_cases.h"

using namespace heed;
using namespace heed::testing;
using heed::detail::all_kernels;
using heed::detail::AttentionInputs;
using heed::detail::AttentionKernel;
using heed::detail::AttentionProblem;
using heed::detail::AttentionStatistics;
using heed::detail::KernelEntry;

namespace {

// Calls body(kernel) for each kernel on vectors; at least one exists unless the build has none.
template <class Body>
void for_vector_kernels(Body&& body) {
  int64_t found = 0;
  for (const KernelEntry& kernel : all_kernels()) {
    const std::string name = kernel.name;
    if (!name.starts_with("vector")) continue;
    ++found;
    if (!kernel.available()) {
      MESSAGE("skipped: ", name, " is not available here");
      continue;
    }
    CAPTURE(name);
    body(kernel);
  }
  const bool left_out = all_kernels().size() == 1;
  if (left_out) MESSAGE("skipped: this build has OpenBLAS alone");
  CHECK((found > 0 || left_out));
}

// How many of the first `rows` x `columns` numbers of two matrices differ in their bits.
int64_t different(const Array& a, const Array& b, int64_t rows, int64_t columns) {
  int64_t count = 0;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const real *x = a.data() + i * a.dim(1) + j, *y = b.data() + i * b.dim(1) + j;
      count += std::memcmp(x, y, sizeof(real)) != 0;
    }
  }
  return count;
}

struct Attended {
  Array y, dq, dk, dv;
};

// One head: q (T, d), k and v (S, d); gradients of random dy.
Attended attended(const AttentionKernel& kernel, const Array& q, const Array& k, const Array& v,
                  const Array& dy, int64_t queries, int64_t keys, const Mask& mask) {
  const int64_t d = q.dim(1), dv = v.dim(1);
  AttentionProblem p;
  p.batch = p.heads = p.kv_heads = 1;
  p.queries = queries;
  p.keys = keys;
  p.width = d;
  p.value_width = dv;
  p.scale = real(0.3);
  p.mask = mask;
  const AttentionInputs inputs{{q.data(), 0, d, d}, {k.data(), 0, d, d}, {v.data(), 0, dv, dv}};
  Attended out{Array::zeros({queries, dv}), Array::zeros({queries, d}), Array::zeros({keys, d}),
               Array::zeros({keys, dv})};
  AttentionStatistics statistics{Array::zeros({1, 1, queries}), Array::zeros({1, 1, queries})};
  kernel.forward(p, inputs, out.y.mutable_data(), statistics);
  kernel.backward(p, inputs, statistics, out.y.data(), dy.data(),
                  {{{out.dq.mutable_data(), 0, d, d}},
                   {{out.dk.mutable_data(), 0, d, d}},
                   {{out.dv.mutable_data(), 0, dv, dv}}});
  return out;
}

}  // namespace

TEST_CASE("rounding: every register tile of products gives the bits of the largest one") {
  constexpr int64_t m = 30, n = 192, k = 401;  // beyond every tile, and the depth of a block
  for_vector_kernels([&](const KernelEntry& kernel) {
    int64_t compared = 0, differ = 0;
    for (const Trans ta : {Trans::no, Trans::yes}) {
      for (const Trans tb : {Trans::no, Trans::yes}) {
        const Array a = ta == Trans::no ? values({m, k}, -1, 1, 1) : values({k, m}, -1, 1, 1);
        const Array b = tb == Trans::no ? values({k, n}, -1, 1, 2) : values({n, k}, -1, 1, 2);
        Array whole = Array::zeros({m, n});
        const detail::Product p{as_matrix(a).transposed(ta), as_matrix(b).transposed(tb),
                                as_writable_matrix(whole)};
        kernel.products->multiply(p);
        for (int64_t rows = 2; rows <= 16; ++rows) {
          for (int64_t columns = 2; columns <= 65; ++columns) {
            Array part = Array::zeros({rows, columns});
            detail::Product q = p.rows(0, rows).columns(0, columns);
            q.c = as_writable_matrix(part);
            kernel.products->multiply(q);
            differ += different(part, whole, rows, columns);
            compared += rows * columns;
          }
        }
      }
    }
    CHECK(differ == 0);
    CHECK(compared > 1'000'000);
  });
}

TEST_CASE("rounding: attention of a query does not depend on how many others there are") {
  constexpr int64_t queries = 30, keys = 37;
  for_vector_kernels([&](const KernelEntry& kernel) {
    int64_t compared = 0, differ = 0;
    for (const int64_t width : {3, 8, 16, 24, 32, 48, 64}) {
      const Array q = values({queries, width}, -1, 1, 1), k = values({keys, width}, -1, 1, 2);
      const Array v = values({keys, width}, -1, 1, 3), dy = values({queries, width}, -1, 1, 4);
      const Attended whole = attended(*kernel.attention, q, k, v, dy, queries, keys, {});
      for (int64_t some = 1; some < queries; ++some) {
        const Attended part = attended(*kernel.attention, q, k, v, dy, some, keys, {});
        differ += different(part.y, whole.y, some, width);
        differ += different(part.dq, whole.dq, some, width);
        compared += 2 * some * width;
      }
    }
    CHECK(differ == 0);
    CHECK(compared > 100'000);
  });
}

TEST_CASE("rounding: the gradient of a key does not depend on keys that are hidden") {
  constexpr int64_t queries = 19, keys = 37;
  for_vector_kernels([&](const KernelEntry& kernel) {
    int64_t compared = 0, differ = 0;
    for (const int64_t width : {3, 8, 16, 24, 32, 48, 64}) {
      const Array q = values({queries, width}, -1, 1, 1), k = values({keys, width}, -1, 1, 2);
      const Array v = values({keys, width}, -1, 1, 3), dy = values({queries, width}, -1, 1, 4);
      for (int64_t some = 1; some < keys; ++some) {
        Mask seen = Mask::uninitialised({1, keys});
        for (int64_t j = 0; j < keys; ++j) seen.mutable_data()[j] = j < some;
        const Attended whole = attended(*kernel.attention, q, k, v, dy, queries, keys, seen);
        const Attended part = attended(*kernel.attention, q, k, v, dy, queries, some, {});
        differ += different(part.dk, whole.dk, some, width);
        differ += different(part.dv, whole.dv, some, width);
        compared += 2 * some * width;
      }
    }
    CHECK(differ == 0);
    CHECK(compared > 100'000);
  });
}
