// Initialisers of parameters. They give PyTorch's numbers for the same seed and order of
// construction. All draw from streams().init(), in the order in which parameters are built. A dry
// run draws nothing.
#pragma once

#include <cmath>

#include "autograd/graph/tensor.h"
#include "autograd/random/fills.h"
#include "autograd/random/streams.h"

namespace heed::init {

inline std::span<real> writable(Array& values) {
  return {values.mutable_data(), static_cast<size_t>(values.size())};
}

inline void zeros(Array& values) {
  if (!dry_run()) std::fill_n(values.mutable_data(), values.size(), real{0});
}

inline void ones(Array& values) {
  if (!dry_run()) std::fill_n(values.mutable_data(), values.size(), real{1});
}

inline void uniform(Array& values, double low, double high) {
  if (!dry_run()) fill_uniform(streams().init(), writable(values), low, high);
}

inline void normal(Array& values, double mean, double std) {
  if (!dry_run()) fill_normal(streams().init(), writable(values), mean, std);
}

// torch.rand
inline void rand(Array& values) { uniform(values, 0, 1); }

// torch.nn.Embedding: N(0, 1)
inline void embedding(Array& values) { normal(values, 0, 1); }

// torch.nn.Linear's weight (d_out, d_in): kaiming_uniform_(a = sqrt(5)), that is,
//   U(-bound, bound),  bound = sqrt(3) gain / sqrt(d_in),  gain = sqrt(2 / (1 + a^2))
// In exact arithmetic the bound is 1 / sqrt(d_in). It is computed in PyTorch's steps, so that it
// rounds to the same number. Of torch.nn.Conv1d's weight (d_out, d_in, K): d_in K instead of d_in.
inline void linear_weight(Array& values) {
  const double gain = std::sqrt(2.0 / (1.0 + std::sqrt(5.0) * std::sqrt(5.0)));
  const auto fan_in = static_cast<double>(values.size() / values.dim(0));
  const double bound = std::sqrt(3.0) * (gain / std::sqrt(fan_in));
  uniform(values, -bound, bound);
}

// torch.nn.Linear's bias: U(-1/sqrt(d_in), 1/sqrt(d_in))
inline void linear_bias(Array& values, int64_t d_in) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(d_in));
  uniform(values, -bound, bound);
}

// xavier_uniform_ of a matrix (fan_out, fan_in): U(-bound, bound) with
//   bound = sqrt(6 / (fan_in + fan_out))
inline void xavier_uniform(Array& values) {
  const double std = std::sqrt(2.0 / static_cast<double>(values.dim(0) + values.dim(1)));
  const double bound = std::sqrt(3.0) * std;
  uniform(values, -bound, bound);
}

// For parameters that exist: draws a matrix once more, sets a vector to 0.
inline void redraw(Tensor matrix, double std) {
  const NoGrad off;
  real* const values = matrix.mutable_value();
  if (!dry_run()) {
    fill_normal(streams().init(), {values, static_cast<size_t>(matrix.size())}, 0, std);
  }
}

inline void clear(Tensor vector) {
  const NoGrad off;
  real* const values = vector ? vector.mutable_value() : nullptr;
  if (vector && !dry_run()) std::fill_n(values, vector.size(), real{0});
}

}  // namespace heed::init
