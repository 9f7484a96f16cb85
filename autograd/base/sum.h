// The sum of numbers that lie side by side, in the order that autograd/kernels/row_math.h
// describes.
#pragma once

#include <cstdint>

#include "autograd/base/real.h"

namespace heed {

// Numbers in a block: one AVX-512 register, two of AVX2, four of SSE.
inline constexpr int64_t vector_block = 64 / static_cast<int64_t>(sizeof(real));

// The tree of row_math.h.
template <class Number>
[[gnu::always_inline]] inline Number sum_of_columns(Number (&columns)[vector_block]) {
  for (int64_t half = vector_block / 2; half > 0; half /= 2) {
    for (int64_t j = 0; j < half; ++j) {
      columns[j] += columns[j + half];
    }
  }
  return columns[0];
}

// add(column j, i) for i in [begin, end), where i - begin is j modulo vector_block; then the tree.
template <class Number, class Add>
[[gnu::always_inline]] inline Number sum_by_columns(int64_t begin, int64_t end, Add add) {
  Number columns[vector_block] = {};
  int64_t i = begin;
  for (; i + vector_block <= end; i += vector_block) {
#pragma omp simd
    for (int64_t j = 0; j < vector_block; ++j) {
      add(columns[j], i + j);
    }
  }
  for (int64_t j = 0; i + j < end; ++j) {
    add(columns[j], i + j);
  }
  return sum_of_columns(columns);
}

// sum of term(i) for i in [begin, end), as numbers of the term's type. The term captures pointers
// by value: of a member of what it captures, the compiler makes gathers.
template <class Term>
[[gnu::always_inline]] inline auto sum_of(int64_t begin, int64_t end, Term term) {
  using Number = decltype(term(begin));
  return sum_by_columns<Number>(begin, end, [=](Number& sum, int64_t i) { sum += term(i); });
}

}  // namespace heed
