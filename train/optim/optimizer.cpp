#include "train/optim/optimizer.h"

#include <algorithm>
#include <cmath>

#include "autograd/base/sum.h"
#include "train/optim/element_loop.h"

namespace heed {

namespace {

struct SumOfSquares {
  const real* values;

  double operator()(int64_t begin, int64_t end) const {
    return sum_of(begin, end, [v = values](int64_t i) {
      const auto g = static_cast<double>(v[i]);
      return g * g;
    });
  }
};

}  // namespace

void Optimizer::step(double lr, double grad_scale) {
  const NoGrad off;
  ++steps_;
  for (size_t k = 0; k < parameters_.size(); ++k) {
    Tensor& parameter = parameters_[k].tensor;
    if (const Array g = parameter.grad()) {
      update(k, parameter, g, lr * parameters_[k].rate, grad_scale);
    }
  }
  finish_step();
}

void Optimizer::zero_grad() {
  for (NamedParameter& parameter : parameters_) {
    parameter.tensor.zero_grad();
  }
}

std::vector<Array> Optimizer::zeros_like_parameters() const {
  std::vector<Array> zeros;
  zeros.reserve(parameters_.size());
  for (const NamedParameter& parameter : parameters_) {
    zeros.push_back(Array::zeros(parameter.tensor.shape()));
  }
  return zeros;
}

double grad_norm(const std::vector<NamedParameter>& parameters) {
  thread_local ElementLoop<SumOfSquares> loop(sum_grain);  // keeps its capacity between steps
  for (const NamedParameter& parameter : parameters) {
    if (const Array g = parameter.tensor.grad()) {
      loop.add(g.size(), {g.data()});
    }
  }
  return std::sqrt(loop.sum());
}

double clip_factor(double norm, double max_norm) { return std::min(1.0, max_norm / (norm + 1e-6)); }

bool decays(const std::string& rule, const Tensor& parameter) {
  return rule == "all" || parameter.rank() >= 2;
}

std::string decay_warning(const std::string& rule, double weight_decay, double lr) {
  if (weight_decay == 0 && rule != "matrices") {
    return text("optimizer.decay is ", rule, ", but optimizer.weight_decay is 0: nothing decays");
  }
  if (lr * weight_decay >= 1) {
    return text("optimizer.lr is ", lr, ", weight_decay ", weight_decay,
                ": each step multiplies weights by 1 - lr weight_decay = ", 1 - lr * weight_decay,
                ", where weight decay is to make them a little smaller");
  }
  return "";
}

OptimizerRegistry& optimizer_registry() {
  static OptimizerRegistry& registry = OptimizerRegistry::filled("optimizer", register_optimizers);
  return registry;
}

}  // namespace heed
