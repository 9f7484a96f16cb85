#include "train/optim/sgd.h"

#include "autograd/kernels/vector_math.h"

namespace heed {

void Sgd::Config::fields(Fields& f) {
  f.optional("lr", lr, at_least(0), "learning rate");
  f.optional("momentum", momentum, at_least(0), "how much of the last direction stays");
  f.optional("dampening", dampening, any_number, "how much of the gradient is kept out of it");
  f.optional("nesterov", nesterov, "look ahead along the direction");
  f.optional("weight_decay", weight_decay, at_least(0), "pull of the weights to 0");
  f.choice("decay", decay, {"matrices", "all"},
           "what weight_decay pulls: two axes or more, or all");
  extra.own_fields(f);
}

void Sgd::Config::check(ConfigErrors& errors, const ConfigNode& at) const {
  if (dampening != 0 && momentum == 0) {
    errors.add_field(at, "dampening", dampening,
                     " has no effect with momentum 0; give a momentum, ", "or leave dampening out");
  }
  if (nesterov && (momentum == 0 || dampening != 0)) {
    errors.add_field(at, "nesterov", "expected a momentum above 0 and dampening 0 with it, got ",
                     momentum, " and ", dampening);
  }
}

Sgd::Sgd(const Config& c, std::vector<NamedParameter> parameters)
    : Optimizer(std::move(parameters), c.lr), config_(checked(c)) {
  if (config_.momentum != 0) {
    buffer_ = zeros_like_parameters();
  }
}

std::vector<std::pair<std::string, std::vector<Array>*>> Sgd::state() {
  if (buffer_.empty()) {
    return {};
  }
  return {{"momentum_buffer", &buffer_}};
}

void Sgd::update(size_t k, Tensor& parameter, const Array& g, double lr, double grad_scale) {
  Update f;
  f.p = parameter.mutable_value();
  f.b = buffer_.empty() ? nullptr : buffer_[k].mutable_data();
  f.g = g.data();
  f.scale = static_cast<real>(grad_scale);
  f.decay = static_cast<real>(decays(config_.decay, parameter) ? config_.weight_decay : 0);
  f.momentum = static_cast<real>(config_.momentum);
  // The first update uses the gradient itself, regardless of dampening.
  f.fresh = static_cast<real>(steps() == 1 ? 1 : 1 - config_.dampening);
  f.ahead = config_.nesterov ? f.momentum : 0;
  f.step = static_cast<real>(-lr);
  updates_.add(g.size(), f);
}

void Sgd::finish_step() { updates_.run(); }

void Sgd::Update::operator()(int64_t begin, int64_t end) const {
  const Update f = *this;  // in registers
  if (f.b == nullptr) {
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) {
      const real grad = multiply_add(f.p[i], f.decay, f.g[i] * f.scale);
      f.p[i] = multiply_add(grad, f.step, f.p[i]);
    }
    return;
  }
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    const real grad = multiply_add(f.p[i], f.decay, f.g[i] * f.scale);
    const real direction = multiply_add(grad, f.fresh, f.b[i] * f.momentum);
    f.b[i] = direction;
    const real way = f.ahead != 0 ? multiply_add(direction, f.ahead, grad) : direction;
    f.p[i] = multiply_add(way, f.step, f.p[i]);
  }
}

}  // namespace heed
