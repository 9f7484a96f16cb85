// Queries, keys and values of one x, side by side as attention takes them. The book, section 3.6.2.
//   x (..., in), weights (out_i, in), biases (out_i) or none -> y (..., out_q + out_k + out_v)
//   y = [x @ Wq^T + bq, x @ Wk^T + bk, x @ Wv^T + bv]
//   dx = dq @ Wq + dk @ Wk + dv @ Wv,  the parameters as in linear
// The weights are copied under each other, and one product does instead of three, which splits or
// packs x once. Saves x and the copy of the weights: these may change before the backward.
#pragma once

#include <array>
#include <vector>

#include "autograd/ops/concat.h"
#include "autograd/ops/linear.h"

namespace heed {

using QkvMaps = std::array<Affine, 3>;  // of queries, keys and values, all with a bias or none

[[nodiscard]] inline Tensor qkv_projection_composed(const Tensor& x, const QkvMaps& maps) {
  std::vector<Tensor> parts;
  for (const Affine& map : maps) {
    parts.push_back(linear_composed(x, map.weight, map.bias));
  }
  return concat(parts, -1);
}

// ShapeError when the shapes do not fit together.
[[nodiscard]] Tensor qkv_projection(const Tensor& x, const QkvMaps& maps);

// Whether one product is to be preferred to three: where x has at least twice as many rows as y has
// columns, so that the copy is small beside y. A step of char-GPT, 768 rows and 384 columns, takes
// 0.97 of the time; one of 2048 rows and 1152 columns took the same time either way.
bool qkv_projection_pays(const Tensor& x, const QkvMaps& maps);

}  // namespace heed
