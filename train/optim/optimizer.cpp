#include "train/optim/optimizer.h"

#include <algorithm>
#include <cmath>

#include "autograd/base/modes.h"
#include "autograd/threads/parallel.h"

namespace heed {

namespace {

// A contiguous part of one gradient.
struct Stretch {
  const real* values;
  int64_t count;
};

double sum_of_squares(const Stretch& stretch) {
  const real* values = stretch.values;
  const int64_t count = stretch.count;
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) {
    const auto g = static_cast<double>(values[i]);
    sum += g * g;
  }
  return sum;
}

}  // namespace

bool decays(const std::string& rule, const Tensor& parameter) {
  return rule == "all" || parameter.rank() >= 2;
}

void Optimizer::step(double lr, double grad_scale) {
  const NoGrad off;
  ++steps_;
  for (size_t k = 0; k < parameters_.size(); ++k) {
    Tensor& parameter = parameters_[k].tensor;
    if (const Array g = parameter.grad()) {
      update(k, parameter, g, lr, grad_scale);
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
  // A single parallel loop over parts of all gradients, so that many small parameters are cheap
  // too.
  static std::vector<Stretch> stretches;  // static: keeps its capacity between steps
  stretches.clear();
  for (const NamedParameter& parameter : parameters) {
    if (const Array g = parameter.tensor.grad()) {
      for (int64_t begin = 0; begin < g.size() && !dry_run(); begin += sum_grain) {
        stretches.push_back({g.data() + begin, std::min(sum_grain, g.size() - begin)});
      }
    }
  }
  return std::sqrt(parallel_sum(static_cast<int64_t>(stretches.size()), 1, [](int64_t k, int64_t) {
    return sum_of_squares(stretches[static_cast<size_t>(k)]);
  }));
}

double clip_factor(double norm, double max_norm) { return std::min(1.0, max_norm / (norm + 1e-6)); }

OptimizerRegistry& optimizer_registry() {
  static OptimizerRegistry& registry = OptimizerRegistry::filled("optimizer", register_optimizers);
  return registry;
}

}  // namespace heed
