#include "autograd/ops/qkv_projection.h"

#include <algorithm>

namespace heed {

namespace {

// Three matrices of equally many columns, under each other.
class StackedRows {
 public:
  explicit StackedRows(const QkvMaps& maps) {
    std::transform(maps.begin(), maps.end(), rows_.begin(),
                   [](const Affine& map) { return map.weight.dim(0); });
  }

  int64_t rows() const { return rows_[0] + rows_[1] + rows_[2]; }

  // One of the three of each map -> (rows, columns)
  template <class Matrix>
  Array copy(const QkvMaps& maps, Matrix&& matrix, int64_t columns) const {
    Array all = Array::uninitialised({rows(), columns});
    real* const to = all.mutable_data();
    const std::array from{matrix(maps[0]).value().data(), matrix(maps[1]).value().data(),
                          matrix(maps[2]).value().data()};
    for_parts(columns, [=](size_t i, int64_t begin, int64_t count, int64_t at) {
      std::copy_n(from[i] + begin, count, to + at);
    });
    return all;
  }

  // Gradients k, k + 2 and k + 4 are the rows of `gradient` that are theirs.
  void hand_out(const Array& gradient, int64_t columns, Grads& grads, size_t k) const {
    std::array<Grads::Target, 3> targets{};
    for (size_t i = 0; i < targets.size(); ++i) {
      if (grads.needs(k + 2 * i)) {
        targets[i] = grads.target(k + 2 * i);
      }
    }
    const real* const from = gradient.data();
    for_parts(columns, [=](size_t i, int64_t begin, int64_t count, int64_t at) {
      real* const to = targets[i].data;
      const bool add = targets[i].add;
      if (to == nullptr) {
        return;
      }
#pragma omp simd
      for (int64_t p = 0; p < count; ++p) {
        to[begin + p] = add ? to[begin + p] + from[at + p] : from[at + p];
      }
    });
  }

 private:
  // part(i, place in matrix i, how many numbers, their place in all): the same place of all three
  // by the same thread and in order, as two of them may be one.
  template <class Part>
  void for_parts(int64_t columns, Part&& part) const {
    // Small weights come from the other thread's cache, so that half of elementwise_grain is worth
    // a chunk. Each has places of three matrices.
    constexpr int64_t grain = elementwise_grain / 2 / 3;
    const int64_t longest = *std::max_element(rows_.begin(), rows_.end()) * columns;
    parallel_for(longest, grain, [&](int64_t begin, int64_t end) {
      int64_t first = 0;
      for (size_t i = 0; i < rows_.size(); ++i) {
        const int64_t size = rows_[i] * columns;
        if (begin < size) {
          part(i, begin, std::min(end, size) - begin, first + begin);
        }
        first += size;
      }
    });
  }

  std::array<int64_t, 3> rows_{};
};

bool needs_any(const Grads& grads, size_t k) {
  return grads.needs(k) || grads.needs(k + 2) || grads.needs(k + 4);
}

void projection_backward(const Array& x, const Array& weight, const StackedRows& stack,
                         const Array& dy, Grads& grads) {
  detail::linear_input_backward(x, weight, dy, grads);
  if (needs_any(grads, 1)) {
    Array dw = Array::uninitialised(weight.shape());
    detail::linear_weight_backward(x, weight, dy, {dw.mutable_data(), false});
    stack.hand_out(dw, weight.dim(1), grads, 1);
  }
  if (needs_any(grads, 2)) {
    stack.hand_out(sum_to(dy, {stack.rows()}), 1, grads, 2);
  }
}

}  // namespace

Tensor qkv_projection(const Tensor& x, const QkvMaps& maps) {
  const auto& [q, k, v] = maps;
  for (const Affine& map : maps) {
    detail::check_linear(x.shape(), map.weight.shape(), map.bias);
    require(static_cast<bool>(map.bias) == static_cast<bool>(q.bias),
            "qkv_projection: expected three biases or none");
  }
  if (!fused()) {
    return qkv_projection_composed(x, maps);
  }
  const StackedRows stack(maps);
  const auto weight_of = [](const Affine& map) -> const Tensor& { return map.weight; };
  const auto bias_of = [](const Affine& map) -> const Tensor& { return map.bias; };
  const Array weight = stack.copy(maps, weight_of, x.dim(-1));
  const Array bias = q.bias ? stack.copy(maps, bias_of, 1).reshaped({stack.rows()}) : Array();
  return record("qkv_projection", detail::linear_forward(x.value(), weight, bias),
                {x, q.weight, q.bias, k.weight, k.bias, v.weight, v.bias},
                [x = x.value(), weight, stack](const Array& dy, Grads& grads) {
                  projection_backward(x, weight, stack, dy, grads);
                });
}

bool qkv_projection_pays(const Tensor& x, const QkvMaps& maps) {
  return rows_of(x.shape()).count >= 2 * StackedRows(maps).rows();
}

}  // namespace heed
