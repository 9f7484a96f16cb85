#include "autograd/ops/feed_forward.h"

#include <optional>

namespace heed {

namespace {

// Returns h = gelu(z) and stores gelu'(z) in `slope`; one call of `both` computes the two. z is
// computed in the buffer of `slope`, where gelu'(z) replaces it.
Array hidden_and_slope(const Array& x, const Affine& first, Gelu kind, Array& slope) {
  Array h = Array::uninitialised(x.shape().with(-1, first.weight.dim(0)));
  real* to = h.mutable_data();
  slope = detail::with_gelu(kind, [&](auto both) {
    return detail::affine(x, first.weight.value(), first.bias.value(),
                          [=](real* z, int64_t at, int64_t n) {
                            real* const y = to + at;
#pragma omp simd
                            for (int64_t i = 0; i < n; ++i) {
                              const auto of = both(z[i]);
                              y[i] = of.value;
                              z[i] = of.derivative;
                            }
                          });
  });
  return h;
}

// Returns h = gelu(z) if no backward will follow. z is computed in the buffer of h, where gelu(z)
// replaces it.
Array hidden_alone(const Array& x, const Affine& first, Gelu kind) {
  return detail::with_gelu(kind, [&](auto both) {
    return detail::affine(x, first.weight.value(), first.bias.value(),
                          [=](real* z, int64_t, int64_t n) {
                            vector_map(z, z, n, [=](real v) { return both(v).value; });
                          });
  });
}

// dz = (dy @ weight) * gelu'(z), in one loop with the product `dw` if there is one. Where that is
// large, from 4 MB in float32 on, `dw` comes first, and dz then takes the place of h.
Array gradient_before_gelu(const Array& dy, const Array& weight, const Array& slope, Array&& h,
                           std::optional<Factors> dw) {
  const bool in_place = h.unique() && h.size() >= 1 << 20;
  if (in_place && dw) multiply(*std::exchange(dw, std::nullopt));
  Array dz = in_place ? std::move(h) : Array::uninitialised(slope.shape());
  const Matrix to = as_writable_matrix(dz);
  const real* factor = slope.data();
  const auto times_slope = [=](const Block& block) {
    for (int64_t r = block.row; r < block.row + block.rows; ++r) {
      const int64_t at = r * to.step() + block.column;
      real* piece = to.data() + at;
      const real* by = factor + at;
#pragma omp simd
      for (int64_t i = 0; i < block.columns; ++i) {
        piece[i] *= by[i];
      }
    }
  };
  const Factors product{as_matrix(dy), as_matrix(weight), into(to)};
  if (dw) {
    multiply_both(*dw, product, times_slope);
  } else {
    multiply(product.a, product.b, product.to, times_slope);
  }
  return dz;
}

}  // namespace

Tensor feed_forward(const Tensor& x, const Affine& first, Gelu kind, const Affine& second) {
  detail::check_linear(x.shape(), first.weight.shape(), first.bias);
  const Shape hidden = x.shape().with(-1, first.weight.dim(0));
  detail::check_linear(hidden, second.weight.shape(), second.bias);
  if (!fused()) {
    return feed_forward_composed(x, first, kind, second);
  }
  const bool wanted = NoGrad::recording() && (x.requires_grad() || first.weight.requires_grad() ||
                                              (first.bias && first.bias.requires_grad()));
  Array slope;
  Array h = wanted ? hidden_and_slope(x.value(), first, kind, slope)
                   : hidden_alone(x.value(), first, kind);
  Array y = detail::affine(h, second.weight.value(), second.bias.value());
  return record(
      "feed_forward", std::move(y), {x, first.weight, first.bias, second.weight, second.bias},
      [x = x.value(), w1 = first.weight.value(), w2 = second.weight.value(), h = std::move(h),
       slope = std::move(slope)](const Array& dy, Grads& grads) mutable {
        std::optional<Factors> dw2;
        if (grads.needs(3)) dw2 = detail::weight_product(h, dy, grads.target(3));
        if (grads.needs(4)) grads.add(4, dy);
        if (slope) {
          const Array dz = gradient_before_gelu(dy, w2, slope, std::move(h), dw2);
          slope = Array();
          detail::linear_backward(x, w1, dz, grads);
        } else if (dw2) {
          multiply(*dw2);
        }
      });
}

}  // namespace heed
