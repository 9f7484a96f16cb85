// A step of plain SGD that is taken back: w -= lr dL/dw, for every parameter given.
#pragma once

#include <algorithm>
#include <vector>

#include "layers/module/module.h"

namespace heed::gradients {

// While one exists, the parameters have made the step. A destructor restores their bits.
class SgdStep {
 public:
  SgdStep(std::vector<NamedParameter> parameters, double lr) : parameters_(std::move(parameters)) {
    const NoGrad off;
    for (NamedParameter& each : parameters_) {
      before_.push_back(each.tensor.value().clone());
      const Array gradient = each.tensor.grad();
      real* const to = each.tensor.mutable_value();
      for (int64_t i = 0; gradient && i < gradient.size(); ++i) {
        to[i] -= static_cast<real>(lr) * gradient.data()[i];
      }
    }
  }
  ~SgdStep() {
    const NoGrad off;
    for (size_t i = 0; i < before_.size(); ++i) {
      std::copy_n(before_[i].data(), before_[i].size(), parameters_[i].tensor.mutable_value());
    }
  }
  SgdStep(const SgdStep&) = delete;
  SgdStep& operator=(const SgdStep&) = delete;

 private:
  std::vector<NamedParameter> parameters_;
  std::vector<Array> before_;
};

}  // namespace heed::gradients
