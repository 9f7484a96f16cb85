// Muon, as torch.optim.Muon, for the matrices inside of blocks, and AdamW for all other weights.
// Jordan et al. 2024, https://kellerjordan.github.io/posts/muon; adjust_lr_fn match_rms_adamw: Liu
// et al. 2025, "Muon is Scalable for LLM Training", section 2.2.
//
// A matrix W (m, n) with gradient g and momentum b:
//   b <- b + (1 - momentum) (g - b)
//   u  = b, nesterov: g + momentum (b - g)
//   W <- (1 - lr weight_decay) W - lr s NS(u)
//   s  = sqrt(max(1, m / n)), match_rms_adamw: 0.2 sqrt(max(m, n))
//
// NS, the Newton-Schulz iteration, moves the singular values of u towards 1 and keeps the singular
// vectors. X is u or its transpose, with no more rows than columns:
//   X <- X / max(|X|, eps)
//   ns_steps times:  A = X X^T,  X <- a X + (b A + c A A) X,  a, b, c = ns_coefficients
// PyTorch rounds X and all products to bfloat16. Here they have the precision of the run.
#pragma once

#include "train/optim/adam.h"

namespace heed {

class Muon final : public AdamBase {
 public:
  static constexpr const char* help =
      "Muon for the matrices of blocks, as torch.optim.Muon, and AdamW for the rest";

  struct Config {
    double lr = 1e-3;
    double momentum = 0.95;
    bool nesterov = true;
    double weight_decay = 0.1;
    std::vector<double> ns_coefficients = {3.4445, -4.7750, 2.0315};
    double eps = 1e-7;
    int64_t ns_steps = 5;
    std::string adjust_lr_fn = "original";
    std::vector<std::string> matrices = {"*blocks.*"};  // patterns (parameter_patterns.h)
    SectionKeys extra{"optimizer"};
    AdamConfig adamw;

    Config();
    void fields(Fields& f);
  };

  Muon(const Config& c, std::vector<NamedParameter> parameters);

  std::vector<std::pair<std::string, std::vector<Array>*>> state() override;
  std::string warning() const override;

 protected:
  // The learning rate of AdamW's parameters is lr adamw.lr / config.lr, under any schedule.
  void update(size_t k, Tensor& parameter, const Array& g, double lr, double grad_scale) override;

 private:
  void update_matrix(Tensor& parameter, Array& momentum, const Array& g, double lr,
                     double grad_scale);

  const Config config_;
  std::vector<Array> momentum_;  // null for parameters of AdamW, whose state others do not have
};
HEED_OPTIMIZER(Muon, "muon");

// NS of u (m, n), which it overwrites. Equal bits for any number of threads.
Array newton_schulz(Array u, const std::vector<double>& coefficients, int64_t steps, double eps);

}  // namespace heed
