// Optimizers: the base class, gradient clipping, and weight decay.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "layers/config/section_keys.h"
#include "layers/module/registry.h"

namespace heed {

class Optimizer {
 public:
  // base_lr: the learning rate of the optimizer's own config, whatever its field is called there.
  Optimizer(std::vector<NamedParameter> parameters, double base_lr)
      : parameters_(std::move(parameters)), base_lr_(base_lr) {}
  virtual ~Optimizer() = default;

  // The learning rate that a schedule starts from.
  double base_lr() const { return base_lr_; }

  // One update with learning rate lr, which a schedule makes of base_lr. Gradients are multiplied
  // by grad_scale on the fly, which clips without a separate pass. Parameters without a gradient
  // are unchanged.
  void step(double lr, double grad_scale = 1);
  void step() { step(base_lr_); }
  int64_t steps() const { return steps_; }

  void zero_grad();

  // The state of each parameter, under PyTorch's names: {"exp_avg", ...}; null for one that has
  // none. The arrays share their buffers with the optimizer.
  virtual std::vector<std::pair<std::string, std::vector<Array>*>> state() = 0;
  void set_steps(int64_t steps) { steps_ = steps; }

  const std::vector<NamedParameter>& parameters() const { return parameters_; }
  // A warning about options that make little sense together; "" if there is none.
  virtual std::string warning() const { return ""; }

 protected:
  // Updates parameter k with gradient g, its own learning rate and its own state. steps() already
  // counts this update.
  virtual void update(size_t k, Tensor& parameter, const Array& g, double lr,
                      double grad_scale) = 0;
  // After the last update() of a step, for optimizers that put all arithmetic into one shared loop
  // over all parameters (element_loop.h).
  virtual void finish_step() {}

  std::vector<Array> zeros_like_parameters() const;

 private:
  std::vector<NamedParameter> parameters_;
  double base_lr_;
  int64_t steps_ = 0;
};

// The norm of all gradients together, and the factor that clips it to max_norm: min(1, max_norm /
// (norm + 1e-6)). Both as in torch.nn.utils.clip_grad_norm_.
double grad_norm(const std::vector<NamedParameter>& parameters);
double clip_factor(double norm, double max_norm);

// True if weight decay applies to the parameter. `rule` is "matrices" (two or more axes, as in
// nanoGPT) or "all" (as in PyTorch).
bool decays(const std::string& rule, const Tensor& parameter);

// A warning for Optimizer::warning(), or "": about a rule without decay, and about a decay that
// takes weights to 0 or beyond in one step. lr: the learning rate, where a step multiplies weights
// by 1 - lr weight_decay; 0 where it does not.
std::string decay_warning(const std::string& rule, double weight_decay, double lr);

using OptimizerRegistry = Registry<Optimizer, std::vector<NamedParameter>>;
OptimizerRegistry& optimizer_registry();
void register_optimizers(OptimizerRegistry& registry);

#define HEED_OPTIMIZER(Class, name) \
  static_assert(std::is_base_of_v<heed::Optimizer, Class>, name " must derive from Optimizer")

}  // namespace heed
