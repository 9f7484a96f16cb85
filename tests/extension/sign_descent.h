// An optimizer whose learning rate has a name of its own. Bernstein et al. 2018, "signSGD".
//   p <- p - step_size sign(g)
#pragma once

#include <heed/train/optimizer.h>

namespace extension {

using namespace heed;

class SignDescent final : public Optimizer {
 public:
  static constexpr const char* help = "a step of one size for every weight, against its gradient";

  struct Config {
    double step_size = 1e-3;
    void fields(Fields& f) {
      f.optional("step_size", step_size, at_least(0), "how far each weight goes in a step");
    }
  };

  SignDescent(const Config& c, std::vector<NamedParameter> parameters)
      : Optimizer(std::move(parameters), checked(c).step_size) {}

  std::vector<std::pair<std::string, std::vector<Array>*>> state() override { return {}; }

 protected:
  void update(size_t, Tensor& parameter, const Array& g, double lr, double) override {
    const auto step = static_cast<real>(lr);
    real* p = parameter.mutable_value();
    const real* gradient = g.data();
    parallel_for(g.size(), elementwise_grain, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        p[i] -= step * static_cast<real>((gradient[i] > 0) - (gradient[i] < 0));
      }
    });
  }
};

}  // namespace extension

HEED_OPTIMIZER(extension::SignDescent, "sign_descent");
