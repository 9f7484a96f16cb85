#include "autograd/check/gradcheck.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace heed {

namespace {

using Tensors = std::vector<Tensor>;

Array random_cotangent(const Shape& shape, uint64_t seed) {
  std::mt19937_64 words(seed);
  Array v = Array::uninitialised(shape);
  for (int64_t i = 0; i < v.size(); ++i) {
    const double u = static_cast<double>(words() >> 11) * 0x1p-53;  // [0, 1)
    v.mutable_data()[i] = static_cast<real>((i % 2 == 0 ? 1 : -1) * (0.5 + u));
  }
  return v;
}

class Checker {
 public:
  Checker(const Differentiable& f, const Tensors& inputs, const GradcheckOptions& options)
      : f_(f), options_(options) {
    for (const Tensor& input : inputs) {
      const Array copy = input.value().clone();
      inputs_.push_back(input.requires_grad() ? Tensor::parameter(copy) : Tensor(copy));
    }
  }

  GradcheckResult run() {
    const Tensor y = f_(inputs_);
    cotangent_ = random_cotangent(y.shape(), options_.seed);
    const std::vector<Array> gradients = analytic(inputs_, 1);
    for (size_t k = 0; k < inputs_.size() && result_.message.empty(); ++k) {
      if (inputs_[k].requires_grad()) {
        compare_with_differences(k, gradients[k]);
      }
    }
    if (result_.message.empty()) {
      check_reuse(gradients);
    }
    if (result_.message.empty() && result_.compared == 0) {
      result_.message = "nothing was compared: no input requires a gradient, or all are empty";
    }
    result_.passed = result_.message.empty();
    return result_;
  }

 private:
  std::string name(size_t k) const {
    return k < options_.names.size() ? options_.names[k] : text("input ", k);
  }

  // The gradients of <cotangent, f> by backward, for `times` uses of f in one graph.
  std::vector<Array> analytic(const Tensors& inputs, int times) {
    for (const Tensor& input : inputs) {
      if (input.requires_grad()) {
        Tensor(input).zero_grad();
      }
    }
    std::vector<Tensor> uses;
    for (int i = 0; i < times; ++i) {
      uses.push_back(f_(inputs));
    }
    // One node behind all uses, so that a single backward pass covers the whole graph.
    const Tensor joined = record("gradcheck", Array::zeros(uses[0].shape()), uses,
                                 [times](const Array& dy, Grads& grads) {
                                   for (int i = 0; i < times; ++i) {
                                     const auto k = static_cast<size_t>(i);
                                     if (grads.needs(k)) grads.add(k, dy);
                                   }
                                 });
    if (joined.requires_grad()) {
      joined.backward(cotangent_.clone());
    }
    std::vector<Array> gradients;
    for (const Tensor& input : inputs) {
      gradients.push_back(input.grad());
    }
    return gradients;
  }

  double value() {
    const NoGrad off;
    const Tensor y = f_(inputs_);
    double sum = 0;
    for (int64_t i = 0; i < y.size(); ++i) {
      sum += static_cast<double>(y.value().data()[i]) * static_cast<double>(cotangent_.data()[i]);
    }
    return sum;
  }

  double value_with(size_t k, int64_t i, double element) {
    const NoGrad off;
    inputs_[k].mutable_value()[i] = static_cast<real>(element);
    return value();
  }

  // The four-point central difference, whose error is O(h^4):
  //   f'(x) = (8 (f(x + h) - f(x - h)) - (f(x + 2h) - f(x - 2h))) / 12h
  double difference(size_t k, int64_t i) {
    const auto x = static_cast<double>(inputs_[k].value().data()[i]);
    const double h = options_.step * std::max(1.0, std::abs(x));
    const double near = value_with(k, i, x + h) - value_with(k, i, x - h);
    const double far = value_with(k, i, x + 2 * h) - value_with(k, i, x - 2 * h);
    value_with(k, i, x);
    return (8 * near - far) / (12 * h);
  }

  void compare_with_differences(size_t k, const Array& gradient) {
    const int64_t size = inputs_[k].size();
    const int64_t compared = std::min(size, options_.sample);
    std::vector<double> numeric, found;
    double largest = 0;
    for (int64_t j = 0; j < compared; ++j) {
      const int64_t i = j * size / compared;
      numeric.push_back(difference(k, i));
      found.push_back(gradient ? static_cast<double>(gradient.data()[i]) : 0.0);
      largest = std::max(largest, std::abs(numeric.back()));
    }
    for (int64_t j = 0; j < compared; ++j) {
      const auto at = static_cast<size_t>(j);
      const double scale =
          std::max({std::abs(numeric[at]), std::abs(found[at]), largest / 100, options_.smallest});
      const double error = std::abs(numeric[at] - found[at]) / scale;
      // Written as a negation, so that NaN fails.
      if (!(error <= options_.tolerance) && result_.message.empty()) {
        result_.message = text(name(k), " of shape ", inputs_[k].shape(), ", element ",
                               j * size / compared, ": gradient ", found[at], ", difference ",
                               numeric[at], ", relative error ", error);
      }
      result_.worst = std::isnan(error) ? error : std::max(result_.worst, error);
      ++result_.compared;
    }
  }

  void expect_near(const char* what, const std::vector<Array>& got, const std::vector<Array>& want,
                   double factor, double tolerance) {
    for (size_t k = 0; k < want.size() && result_.message.empty(); ++k) {
      if (static_cast<bool>(got[k]) != static_cast<bool>(want[k])) {
        result_.message = text(what, ": ", name(k), " has a gradient in one case only");
      }
      for (int64_t i = 0; want[k] && got[k] && i < want[k].size(); ++i) {
        const double wanted = factor * static_cast<double>(want[k].data()[i]);
        const double found = static_cast<double>(got[k].data()[i]);
        if (!(std::abs(wanted - found) <= tolerance * std::max(1.0, std::abs(wanted)))) {
          result_.message = text(what, ": ", name(k), ", element ", i, ": gradient ", found,
                                 ", expected ", wanted);
          break;
        }
      }
    }
  }

  void check_reuse(const std::vector<Array>& once) {
    expect_near("run again", analytic(inputs_, 1), once, 1, 0);
    expect_near("used twice in one graph", analytic(inputs_, 2), once, 2, 1e-12);
    const auto wanted = std::count_if(inputs_.begin(), inputs_.end(),
                                      [](const Tensor& input) { return input.requires_grad(); });
    for (size_t k = 0; k < inputs_.size() && wanted > 1; ++k) {
      if (inputs_[k].requires_grad()) {
        Tensors alone;
        for (const Tensor& input : inputs_) alone.push_back(input.detach());
        alone[k] = Tensor::parameter(inputs_[k].value());
        std::vector<Array> expected(inputs_.size());
        expected[k] = once[k];
        expect_near("requiring a gradient alone", analytic(alone, 1), expected, 1, 1e-12);
      }
    }
  }

  const Differentiable& f_;
  const GradcheckOptions options_;
  Tensors inputs_;
  Array cotangent_;
  GradcheckResult result_;
};

}  // namespace

GradcheckResult gradcheck(const Differentiable& f, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options) {
  require<Error>(is_float64, "gradcheck: needs float64, this is the float32 library; differences ",
                 "of float32 values are too coarse to check a gradient");
  return Checker(f, inputs, options).run();
}

}  // namespace heed
