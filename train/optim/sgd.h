// Stochastic gradient descent, as torch.optim.SGD. For each parameter
//   g <- scale g + decay p
//   b <- momentum b + (1 - dampening) g      (b <- g at the first step; only with momentum)
//   p <- p - lr b,   nesterov: p - lr (g + momentum b),   without momentum: p - lr g
#pragma once

#include "train/optim/element_loop.h"
#include "train/optim/optimizer.h"

namespace heed {

class Sgd final : public Optimizer {
 public:
  static constexpr const char* help =
      "gradient descent, with momentum if wanted, as torch.optim.SGD";

  struct Config {
    double lr = 1e-3;
    double momentum = 0;
    double dampening = 0;
    bool nesterov = false;
    double weight_decay = 0;
    std::string decay = "matrices";
    SectionKeys extra{"optimizer"};
    void fields(Fields& f);
    void check(ConfigErrors& errors, const ConfigNode& at) const;
  };

  Sgd(const Config& c, std::vector<NamedParameter> parameters);

  std::vector<std::pair<std::string, std::vector<Array>*>> state() override;
  std::string warning() const override {
    return decay_warning(config_.decay, config_.weight_decay, base_lr());
  }

 protected:
  void update(size_t k, Tensor& parameter, const Array& g, double lr, double grad_scale) override;
  void finish_step() override;

 private:
  // The update of one parameter: its arrays, and factors that are the same for all its elements.
  struct Update {
    real *p, *b;  // b: null without momentum
    const real* g;
    real scale, decay, momentum;
    real fresh;  // the share of g that goes into b
    real ahead;  // momentum with nesterov, else 0
    real step;   // -lr

    void operator()(int64_t begin, int64_t end) const;
  };

  const Config config_;
  std::vector<Array> buffer_;  // empty without momentum
  ElementLoop<Update> updates_{elementwise_grain};
};
HEED_OPTIMIZER(Sgd, "sgd");

}  // namespace heed
