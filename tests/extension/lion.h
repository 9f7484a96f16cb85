// An optimizer: only the sign of the momentum counts. Chen et al. 2023, "Symbolic Discovery of
// Optimization Algorithms".
//   u <- sign(beta1 m + (1 - beta1) g)
//   p <- p - lr (u + decay p),  m <- beta2 m + (1 - beta2) g
#pragma once

#include <heed/train/optimizer.h>

namespace extension {

using namespace heed;

class Lion final : public Optimizer {
 public:
  static constexpr const char* help = "the sign of the momentum, with decoupled weight decay";

  struct Config {
    double lr = 1e-4;
    std::vector<double> betas = {0.9, 0.99};
    double weight_decay = 0;
    void fields(Fields& f) {
      f.optional("lr", lr, at_least(0), "learning rate, a tenth of AdamW's");
      f.optional("betas", betas, probability, "what stays in the direction, in the momentum",
                 exactly(2));
      f.optional("weight_decay", weight_decay, at_least(0), "pull of matrices to 0");
    }
  };

  Lion(const Config& c, std::vector<NamedParameter> parameters)
      : Optimizer(std::move(parameters), c.lr),
        config(checked(c)),
        momentum_(zeros_like_parameters()) {}

  // What a checkpoint keeps beside the parameters.
  std::vector<std::pair<std::string, std::vector<Array>*>> state() override {
    return {{"exp_avg", &momentum_}};
  }

  const Config config;

 protected:
  void update(size_t k, Tensor& parameter, const Array& g, double lr, double grad_scale) override {
    const auto beta1 = static_cast<real>(config.betas[0]);
    const auto beta2 = static_cast<real>(config.betas[1]);
    const auto decay = static_cast<real>(decays("matrices", parameter) ? config.weight_decay : 0);
    const auto rate = static_cast<real>(lr), scale = static_cast<real>(grad_scale);
    real *p = parameter.mutable_value(), *m = momentum_[k].mutable_data();
    const real* gradient = g.data();
    parallel_for(g.size(), elementwise_grain, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const real grad = scale * gradient[i], way = beta1 * m[i] + (1 - beta1) * grad;
        const auto sign = static_cast<real>((way > 0) - (way < 0));
        p[i] -= rate * (sign + decay * p[i]);
        m[i] = beta2 * m[i] + (1 - beta2) * grad;
      }
    });
  }

 private:
  std::vector<Array> momentum_;
};

}  // namespace extension

HEED_OPTIMIZER(extension::Lion, "lion");
