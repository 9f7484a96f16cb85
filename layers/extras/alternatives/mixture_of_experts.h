// Several feed-forwards, the experts, of which each token goes through the top_k that a router
// picks: parameters of all of them, at the cost of a few. Shazeer et al. 2017, arXiv:1701.06538;
// "Switch Transformers", Fedus et al. 2022, arXiv:2101.03961; "Mixtral of Experts", Jiang et al.
// 2024, arXiv:2401.04088.
//   x (..., d_model) -> y (..., d_model);  for N tokens, E experts and k = top_k:
//   p_t  = softmax(W_router x_t)                (E)
//   K_t  = the k experts with the largest p_te; of equal ones, those with the lower numbers
//   w_te = p_te / (sum of p_tj over j in K_t)   for e in K_t, as in Mixtral
//   y_t  = sum of w_te expert_e(x_t) over e in K_t
// With top_k 1, w_te is p_te, as in Switch: divided by itself it would be 1, and the router could
// not learn. The experts are feed_forward, or gated_feed_forward with activation swiglu.
//
// The products of an expert have a row for each of its tokens. Many BLAS kernels round a row in
// another way among more or fewer rows, so y_t depends on other tokens, but within rounding only.
//
// In training it adds a loss called load_balancing, equation (4) of Switch Transformers:
//   load_balancing E sum_e f_e P_e,   f_e = (number of tokens t with e in K_t) / N
//                                     P_e = (sum of p_te over t) / N
// The f_e sum to k, so it is load_balancing k if all experts get alike. Gradients flow through P.
// It is what load_balancing_loss_func of transformers computes for the router of one layer; the
// losses of several layers are added, as in Switch. Padding, hidden by a mask (B, T), is not
// counted.
#pragma once

#include <vector>

#include "layers/feed_forward.h"

namespace heed {

class MixtureOfExperts final : public Module {
 public:
  static constexpr const char* help = "feed-forwards, of which each token goes through a few";

  struct Config : FeedForward::Config {
    int64_t num_experts = 8;
    int64_t top_k = 2;
    double load_balancing = 0.01;
    void fields(Fields& f);
    void check(ConfigErrors& errors, const ConfigNode& at) const;
  };

  explicit MixtureOfExperts(const Config& c);

  Signature signature() const override {
    return {.width = config.d_model, .causal = true, .exact = false, .cache = true};
  }

  const Config config;
  Child<Linear> router;                // (num_experts, d_model), without bias
  std::vector<Child<Module>> experts;  // (..., d_model) -> (..., d_model)

 protected:
  Tensor forward(const Input& in) override;
};
HEED_LAYER(MixtureOfExperts, "mixture_of_experts");

}  // namespace heed
