// Adam and AdamW, as torch.optim.Adam and torch.optim.AdamW: one update, two forms of weight decay.
#pragma once

#include "train/optim/element_loop.h"
#include "train/optim/optimizer.h"

namespace heed {

struct AdamConfig {
  double lr = 1e-3;
  std::vector<double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  std::string decay = "matrices";
  SectionKeys extra{"optimizer"};
  void fields(Fields& f);
};

enum class WeightDecay { coupled, decoupled };

// The equations are in adam.cpp.
class AdamBase : public Optimizer {
 public:
  AdamBase(const AdamConfig& c, std::vector<NamedParameter> parameters, WeightDecay form);

  std::vector<std::pair<std::string, std::vector<Array>*>> state() override {
    return {{"exp_avg", &mean_}, {"exp_avg_sq", &square_}};
  }
  std::string warning() const override;

 protected:
  void update(size_t k, Tensor& parameter, const Array& g, double lr, double grad_scale) override;
  void finish_step() override;

 private:
  // The update of one parameter: its arrays, and factors that are the same for all its elements.
  struct Update {
    real *p, *m, *v;
    const real* g;
    real grad_scale;
    real keep;     // factor of the weight: 1 - lr decay, or 1
    real coupled;  // weight decay added to the gradient, or 0
    real rest1;    // 1 - beta1
    real beta2, rest2;
    real root2;  // sqrt(1 - beta2^s)
    real eps;
    real step;  // -lr / (1 - beta1^s)

    void operator()(int64_t begin, int64_t end) const;
    template <bool coupled>
    void run(int64_t begin, int64_t end) const;
  };

  const AdamConfig config_;
  const WeightDecay form_;
  std::vector<Array> mean_, square_;
  ElementLoop<Update> updates_{elementwise_grain};
};

class Adam final : public AdamBase {
 public:
  static constexpr const char* help = "Adam, as torch.optim.Adam";
  using Config = AdamConfig;

  Adam(const Config& c, std::vector<NamedParameter> parameters)
      : AdamBase(c, std::move(parameters), WeightDecay::coupled) {}
};
HEED_OPTIMIZER(Adam, "adam");

class AdamW final : public AdamBase {
 public:
  static constexpr const char* help = "Adam with decoupled weight decay, as torch.optim.AdamW";
  struct Config : AdamConfig {
    Config() { weight_decay = 0.01; }
  };

  AdamW(const Config& c, std::vector<NamedParameter> parameters)
      : AdamBase(c, std::move(parameters), WeightDecay::decoupled) {}
};
HEED_OPTIMIZER(AdamW, "adamw");

}  // namespace heed
