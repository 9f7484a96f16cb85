#include "train/optim/adam.h"

#include <cmath>

#include "autograd/threads/parallel.h"
#include "train/optim/multiply_add.h"

namespace heed {

void AdamConfig::fields(Fields& f) {
  f.optional("lr", lr, at_least(0), "learning rate").also_known_as({"learning_rate"});
  f.optional("betas", betas, probability, "how much of the mean of g and of g^2 stays at a step",
             exactly(2))
      .also_known_as({"beta1", "beta2"}, "a list of both");
  f.optional("eps", eps, at_least(0), "added to the root of the mean of g^2");
  f.optional("weight_decay", weight_decay, at_least(0), "pull of the weights to 0");
  f.choice("decay", decay, {"matrices", "all"},
           "what weight_decay pulls: two axes or more, or all");
}

namespace {

// Factors that are the same for all elements of a parameter.
struct AdamFactors {
  real grad_scale;
  real keep;     // factor of the weight: 1 - lr decay, or 1
  real coupled;  // weight decay added to the gradient, or 0
  real rest1;    // 1 - beta1
  real beta2, rest2;
  real root2;  // sqrt(1 - beta2^s)
  real eps;
  real step;  // -lr / (1 - beta1^s)
};

template <bool coupled>
void update_stretch(real* p, real* m, real* v, const real* g, int64_t n,
                    const AdamFactors& factors) {
  const AdamFactors f = factors;
  const bool nearer = f.rest1 < real{0.5};  // as torch.lerp: start at the nearer end
  const real weight = nearer ? f.rest1 : f.rest1 - 1;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    real grad = g[i] * f.grad_scale;
    if constexpr (coupled) {
      grad = multiply_add(p[i], f.coupled, grad);
    }
    const real mean = multiply_add(weight, grad - m[i], nearer ? m[i] : grad);
    const real square = multiply_add(f.rest2 * grad, grad, v[i] * f.beta2);
    const real root = std::sqrt(square) / f.root2 + f.eps;
    m[i] = mean;
    v[i] = square;
    p[i] = p[i] * f.keep + f.step * mean / root;
  }
}

}  // namespace

AdamBase::AdamBase(const AdamConfig& c, std::vector<NamedParameter> parameters, WeightDecay form)
    : Optimizer(std::move(parameters), c.lr),
      config_(checked(c)),
      form_(form),
      mean_(zeros_like_parameters()),
      square_(zeros_like_parameters()) {}

void AdamBase::update(size_t k, Tensor& parameter, const Array& g, double lr, double grad_scale) {
  const double decay = decays(config_.decay, parameter) ? config_.weight_decay : 0;
  const double beta1 = config_.betas[0], beta2 = config_.betas[1];
  const auto s = static_cast<double>(steps());
  const bool coupled = form_ == WeightDecay::coupled && decay != 0;
  AdamFactors f;
  f.grad_scale = static_cast<real>(grad_scale);
  f.keep = static_cast<real>(form_ == WeightDecay::decoupled ? 1 - lr * decay : 1);
  f.coupled = static_cast<real>(decay);
  f.rest1 = static_cast<real>(1 - beta1);
  f.beta2 = static_cast<real>(beta2);
  f.rest2 = static_cast<real>(1 - beta2);
  f.root2 = static_cast<real>(std::sqrt(1 - std::pow(beta2, s)));
  f.eps = static_cast<real>(config_.eps);
  f.step = static_cast<real>(-(lr / (1 - std::pow(beta1, s))));

  real* p = parameter.mutable_value();
  real *m = mean_[k].mutable_data(), *v = square_[k].mutable_data();
  const real* gradient = g.data();
  constexpr int64_t grain = elementwise_grain / 4;  // a square root and two divisions per element
  parallel_for(g.size(), grain, [&](int64_t begin, int64_t end) {
    const auto stretch = coupled ? update_stretch<true> : update_stretch<false>;
    stretch(p + begin, m + begin, v + begin, gradient + begin, end - begin, f);
  });
}

}  // namespace heed
