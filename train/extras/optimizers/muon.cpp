#include "train/extras/optimizers/muon.h"

#include <cmath>

#include "autograd/base/sum.h"
#include "autograd/kernels/gemm.h"
#include "autograd/kernels/vector_math.h"
#include "train/extras/optimizers/parameter_patterns.h"

namespace heed {

namespace {

// The config of AdamBase: its learning rate is the one that a schedule gives.
AdamConfig with_rate_of_muon(const Muon::Config& c) {
  AdamConfig adamw = c.adamw;
  adamw.lr = c.lr;
  return adamw;
}

real euclidean_norm(const Array& x) {
  const real* const values = x.data();
  const double squares = parallel_sum(x.size(), sum_grain, [=](int64_t begin, int64_t end) {
    return sum_of(begin, end, [=](int64_t i) {
      const auto value = static_cast<double>(values[i]);
      return value * value;
    });
  });
  return static_cast<real>(std::sqrt(squares));
}

// f(i) for the number i of every element.
template <class F>
void each_element(int64_t count, const F& f) {
  parallel_for(count, elementwise_grain, [=](int64_t begin, int64_t end) {
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

}  // namespace

// A wide X (m <= n) is multiplied from the left by P = a I + b A + c A A, A = X X^T; a tall one
// from the right, with A = X^T X, which is the same for its transpose. P has min(m, n) rows.
Array newton_schulz(Array u, const std::vector<double>& coefficients, int64_t steps, double eps) {
  const bool tall = u.dim(0) > u.dim(1);
  const int64_t side = std::min(u.dim(0), u.dim(1));
  const auto a = static_cast<real>(coefficients[0]), b = static_cast<real>(coefficients[1]),
             c = static_cast<real>(coefficients[2]);
  const real norm = std::max(euclidean_norm(u), static_cast<real>(eps));
  each_element(u.size(), [x = u.mutable_data(), norm](int64_t i) { x[i] /= norm; });
  Array next = Array::uninitialised(u.shape()), gram = Array::uninitialised({side, side}),
        polynomial = Array::uninitialised({side, side});
  for (int64_t step = 0; step < steps; ++step) {
    const ConstMatrix x = as_matrix(u), wide = tall ? x.transposed() : x;
    multiply(wide, wide.transposed(), into(as_writable_matrix(gram)));
    multiply(as_matrix(gram), as_matrix(gram), into(as_writable_matrix(polynomial)));
    each_element(side * side, [=, p = polynomial.mutable_data(), g = gram.data()](int64_t i) {
      p[i] = multiply_add(b, g[i], c * p[i]);
    });
    each_element(side, [=, p = polynomial.mutable_data()](int64_t i) { p[i * (side + 1)] += a; });
    const ConstMatrix p = as_matrix(polynomial);
    multiply(tall ? x : p, tall ? p : x, into(as_writable_matrix(next)));
    std::swap(u, next);
  }
  return u;
}

Muon::Config::Config() {
  adamw.weight_decay = 0.01;
  adamw.extra = SectionKeys("optimizer.adamw");  // extras add keys to an optimizer, not to its part
}

void Muon::Config::fields(Fields& f) {
  f.optional("lr", lr, above(0), "learning rate of the matrices");
  f.optional("momentum", momentum, probability, "how much of the mean of g stays at a step");
  f.optional("nesterov", nesterov, "look ahead along the momentum");
  f.optional("weight_decay", weight_decay, at_least(0), "pull of the matrices to 0");
  f.optional("ns_coefficients", ns_coefficients, any_number,
             "a, b, c of X <- a X + (b A + c A A) X, A = X X^T", exactly(3));
  f.optional("eps", eps, above(0), "smallest norm that a matrix is divided by");
  f.optional("ns_steps", ns_steps, in_range(1, 99), "Newton-Schulz iterations");
  f.choice(
      "adjust_lr_fn", adjust_lr_fn, {"original", "match_rms_adamw"},
      "lr times sqrt(max(1, rows / columns)), or 0.2 sqrt(max(rows, columns)) as AdamW's size");
  f.optional("matrices", matrices, "patterns of the parameters whose matrices are Muon's",
             {.min = 1, .max = {}});
  f.group("adamw", adamw, "the optimizer of all others; a schedule keeps the ratio of both rates");
  extra.own_fields(f);
}

Muon::Muon(const Config& c, std::vector<NamedParameter> parameters)
    : AdamBase(with_rate_of_muon(checked(c)), std::move(parameters), WeightDecay::decoupled),
      config_(c),
      momentum_(zeros_like_parameters()) {
  for (size_t k = 0; k < momentum_.size(); ++k) {
    const NamedParameter& parameter = this->parameters()[k];
    if (parameter.tensor.rank() != 2 || !matches_any(config_.matrices, parameter.name)) {
      momentum_[k] = Array();
      continue;
    }
    for (const auto& [name, arrays] : AdamBase::state()) (*arrays)[k] = Array();
  }
}

std::vector<std::pair<std::string, std::vector<Array>*>> Muon::state() {
  auto all = AdamBase::state();
  all.emplace_back("momentum_buffer", &momentum_);
  return all;
}

std::string Muon::warning() const {
  return decay_warning("matrices", config_.weight_decay, config_.lr);
}

void Muon::update(size_t k, Tensor& parameter, const Array& g, double lr, double grad_scale) {
  if (momentum_[k]) {
    update_matrix(parameter, momentum_[k], g, lr, grad_scale);
  } else {
    AdamBase::update(k, parameter, g, lr * (config_.adamw.lr / config_.lr), grad_scale);
  }
}

void Muon::update_matrix(Tensor& parameter, Array& momentum, const Array& g, double lr,
                         double grad_scale) {
  const auto rows = static_cast<double>(g.dim(0)), columns = static_cast<double>(g.dim(1));
  const double adjusted = config_.adjust_lr_fn == "original"
                              ? std::sqrt(std::max(1.0, rows / columns))
                              : 0.2 * std::sqrt(std::max(rows, columns));
  const auto stays = static_cast<real>(config_.momentum), scale = static_cast<real>(grad_scale);
  const auto rest = static_cast<real>(1 - config_.momentum);
  Array direction = Array::uninitialised(g.shape());
  each_element(g.size(), [=, nesterov = config_.nesterov, m = momentum.mutable_data(),
                          u = direction.mutable_data(), from = g.data()](int64_t i) {
    const real grad = from[i] * scale;
    m[i] = multiply_add(rest, grad - m[i], m[i]);
    u[i] = nesterov ? multiply_add(stays, m[i] - grad, grad) : m[i];
  });
  const Array way =
      newton_schulz(std::move(direction), config_.ns_coefficients, config_.ns_steps, config_.eps);
  const auto keep = static_cast<real>(1 - lr * config_.weight_decay);
  const auto step = static_cast<real>(-(lr * adjusted));
  each_element(g.size(), [=, p = parameter.mutable_value(), o = way.data()](int64_t i) {
    p[i] = multiply_add(step, o[i], p[i] * keep);
  });
}

}  // namespace heed
