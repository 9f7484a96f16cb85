#include "train/optim/adam.h"

#include <cmath>

#include "autograd/base/elementary.h"

namespace heed {

void AdamConfig::fields(Fields& f) {
  f.optional("lr", lr, at_least(0), "learning rate");
  f.optional("betas", betas, probability, "how much of the mean of g and of g^2 stays at a step",
             exactly(2));
  f.optional("eps", eps, at_least(0), "added to the root of the mean of g^2");
  f.optional("weight_decay", weight_decay, at_least(0), "pull of the weights to 0");
  f.choice("decay", decay, {"matrices", "all"},
           "what weight_decay pulls: two axes or more, or all");
  extra.own_fields(f);
}

// The update of one parameter p with gradient g. m and v are running means of g and g^2; s counts
// the updates from 1.
//   g <- scale g
//   coupled:   g <- g + decay p              decoupled: p <- (1 - lr decay) p
//   m <- m + (1 - beta1) (g - m)             v <- beta2 v + (1 - beta2) g^2
//   p <- p - lr / (1 - beta1^s)  m / (sqrt(v) / sqrt(1 - beta2^s) + eps)
// Kingma and Ba 2015; decoupled form: Loshchilov and Hutter 2019. Intermediates are rounded in the
// order of torch.optim.Adam (PyTorch 2.13, foreach=False). PyTorch's square root, unlike this one,
// can be off by one unit in the last place, so weights agree to a few units.
template <bool coupled>
void AdamBase::Update::run(int64_t begin, int64_t end) const {
  const Update f = *this;  // a copy, so that the compiler keeps the factors in registers
  // m + weight (g - m), as torch.lerp computes it: from whichever of m and g is nearer.
  const bool nearer = f.rest1 < real{0.5};
  const real weight = nearer ? f.rest1 : f.rest1 - 1;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    real grad = f.g[i] * f.grad_scale;
    if constexpr (coupled) {
      grad = multiply_add(f.p[i], f.coupled, grad);
    }
    const real mean = multiply_add(weight, grad - f.m[i], nearer ? f.m[i] : grad);
    const real square = multiply_add(f.rest2 * grad, grad, f.v[i] * f.beta2);
    const real root = std::sqrt(square) / f.root2 + f.eps;
    f.m[i] = mean;
    f.v[i] = square;
    f.p[i] = f.p[i] * f.keep + f.step * mean / root;
  }
}

void AdamBase::Update::operator()(int64_t begin, int64_t end) const {
  if (coupled != 0) {
    run<true>(begin, end);
  } else {
    run<false>(begin, end);
  }
}

AdamBase::AdamBase(const AdamConfig& c, std::vector<NamedParameter> parameters, WeightDecay form)
    : Optimizer(std::move(parameters), c.lr),
      config_(checked(c)),
      form_(form),
      mean_(zeros_like_parameters()),
      square_(zeros_like_parameters()) {}

std::string AdamBase::warning() const {
  const double lr = form_ == WeightDecay::decoupled ? base_lr() : 0;
  return decay_warning(config_.decay, config_.weight_decay, lr);
}

void AdamBase::update(size_t k, Tensor& parameter, const Array& g, double lr, double grad_scale) {
  const double decay = decays(config_.decay, parameter) ? config_.weight_decay : 0;
  const double beta1 = config_.betas[0], beta2 = config_.betas[1];
  Update f;
  f.p = parameter.mutable_value();
  f.m = mean_[k].mutable_data();
  f.v = square_[k].mutable_data();
  f.g = g.data();
  f.grad_scale = static_cast<real>(grad_scale);
  f.keep = static_cast<real>(form_ == WeightDecay::decoupled ? 1 - lr * decay : 1);
  f.coupled = static_cast<real>(form_ == WeightDecay::coupled ? decay : 0);
  f.rest1 = static_cast<real>(1 - beta1);
  f.beta2 = static_cast<real>(beta2);
  f.rest2 = static_cast<real>(1 - beta2);
  f.root2 = static_cast<real>(std::sqrt(1 - power(beta2, steps())));
  f.eps = static_cast<real>(config_.eps);
  f.step = static_cast<real>(-(lr / (1 - power(beta1, steps()))));
  updates_.add(g.size(), f);
}

// Runs the updates that were added, of all parameters, in one parallel loop.
void AdamBase::finish_step() { updates_.run(); }

}  // namespace heed
