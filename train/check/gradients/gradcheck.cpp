#include "train/check/gradients/gradcheck.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "autograd/array/map.h"
#include "autograd/array/reduce.h"
#include "train/check/gradients/samples.h"
#include "train/check/gradients/slopes.h"

namespace heed {

namespace {

using Tensors = std::vector<Tensor>;

// Magnitudes in [0.5, 1.5); signs that alternate from element to element and from seed to seed.
Array random_cotangent(const Shape& shape, uint64_t seed) {
  std::mt19937_64 words(seed);
  Array v = Array::uninitialised(shape);
  for (int64_t i = 0; i < v.size(); ++i) {
    const double u = static_cast<double>(words() >> 11) * 0x1p-53;  // [0, 1)
    const bool positive = (static_cast<uint64_t>(i) + seed) % 2 == 1;
    v.mutable_data()[i] = static_cast<real>((positive ? 1 : -1) * (0.5 + u));
  }
  return v;
}

// The step of an element is multiplied by this: larger elements are moved further.
double reach_of(real x) { return std::max(1.0, std::abs(static_cast<double>(x))); }

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
    const Array y = f_(inputs_).value();
    cotangent_ = random_cotangent(y.shape(), options_.seed);
    if (is_comparable(y)) {
      check_unrecorded(y);
      measure_rounding(y);
      gradients_ = analytic(inputs_, 1, cotangent_);
      for (size_t k = 0; k < inputs_.size() && result_.message.empty(); ++k) {
        if (inputs_[k].requires_grad() && inputs_[k].size() > 0) {
          compare_elements(k);
        }
      }
      compare_together();
      check_linear();
      check_reuse();
    }
    result_.passed = result_.message.empty();
    return result_;
  }

 private:
  std::string name(size_t k) const {
    return k < options_.names.size() ? options_.names[k] : text("input ", k);
  }

  std::string name_and_shape(size_t k) const {
    return text(name(k), " of shape ", inputs_[k].shape());
  }

  // The first message stays.
  void fail_with(const std::string& message) {
    if (result_.message.empty()) {
      result_.message = message;
    }
  }

  bool is_comparable(const Array& y) {
    const bool some = std::any_of(inputs_.begin(), inputs_.end(), [](const Tensor& input) {
      return input.requires_grad() && input.size() > 0;
    });
    if (!some) {
      fail_with("nothing was compared: no input requires a gradient, or all are empty");
    } else if (y.size() == 0) {
      fail_with(text("nothing was compared: the output, of shape ", y.shape(), ", is empty"));
    }
    return result_.message.empty();
  }

  // The differences are those of a forward that records nothing. An operation may take a shorter
  // way there, but must get to the same place.
  void check_unrecorded(const Array& recorded) {
    const NoGrad off;
    const std::string where = difference(recorded, f_(inputs_).value(), 1e-10);
    if (!where.empty()) {
      fail_with("the output changes if no graph is recorded: " + where);
    }
  }

  void measure_rounding(const Array& y) {
    double sum = 0;
    for (int64_t i = 0; i < y.size(); ++i) {
      sum += std::abs(static_cast<double>(y.data()[i]) * static_cast<double>(cotangent_.data()[i]));
    }
    rounding_ = std::numeric_limits<real>::epsilon() * sum;
  }

  // The gradients of <cotangent, f> by backward, for `times` uses of f in one graph.
  std::vector<Array> analytic(const Tensors& inputs, int times, const Array& cotangent) {
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
      joined.backward(cotangent.clone());
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

  double gradient(size_t k, int64_t i) const {
    return gradients_[k] ? static_cast<double>(gradients_[k].data()[i]) : 0.0;
  }

  void set(size_t k, int64_t i, double element) {
    const NoGrad off;
    inputs_[k].mutable_value()[i] = static_cast<real>(element);
  }

  // Returns the relative error of `slope` at 0, where the central difference is `difference`; NaN
  // for NaN. The error is relative to the larger of the slopes, at least to `least`. `whole`: the
  // line moves all elements of an input, so at a kink of some of them the slope cannot be judged.
  double error_of(double slope, double difference, double least, const Line& f, double step,
                  bool whole) {
    const double scale =
        std::max({std::abs(difference), std::abs(slope), least, options_.smallest});
    double error = std::abs(difference - slope) / scale;
    if (error > options_.tolerance) {
      const CloserLook look =
          look_closer(f, step, {slope, difference, options_.tolerance * scale, rounding_});
      if (look.agreement == Agreement::equal) {
        error = std::min(options_.tolerance, std::abs(look.difference - slope) / scale);
      } else if (look.agreement == Agreement::between ||
                 (whole && look.agreement == Agreement::kink)) {
        error = 0;
      }
    }
    result_.worst = std::isnan(error) ? error : std::max(result_.worst, error);
    return error;
  }

  // Written as a negation, so that NaN fails.
  void expect_small(double error, const std::function<std::string()>& where, double slope,
                    double difference) {
    if (!(error <= options_.tolerance)) {
      fail_with(text(where(), ": gradient ", slope, ", central difference ", difference,
                     ", relative error ", error));
    }
  }

  void compare_elements(size_t k) {
    const std::vector<int64_t> elements = sampled_elements(inputs_[k].shape(), options_.sample);
    const Array kept = inputs_[k].value().clone();
    const auto line = [&](int64_t i) {
      return [this, k, i, x = static_cast<double>(kept.data()[i])](double t) {
        set(k, i, x + t);
        const double moved = value();
        set(k, i, x);
        return moved;
      };
    };
    const auto step = [&](int64_t i) { return options_.step * reach_of(kept.data()[i]); };
    std::vector<double> differences;
    double largest = 0;
    for (const int64_t i : elements) {
      differences.push_back(central_difference(line(i), step(i)));
      largest = std::max(largest, std::abs(differences.back()));
    }
    for (size_t j = 0; j < elements.size(); ++j) {
      const int64_t i = elements[j];
      const double error =
          error_of(gradient(k, i), differences[j], largest / 100, line(i), step(i), false);
      expect_small(
          error, [&] { return text(name_and_shape(k), ", element ", i); }, gradient(k, i),
          differences[j]);
      ++result_.compared;
    }
    if (static_cast<int64_t>(elements.size()) < inputs_[k].size()) {
      std::vector<Array> direction(inputs_.size());
      direction[k] = random_cotangent(inputs_[k].shape(), options_.seed + 2);
      compare_along(std::move(direction), name_and_shape(k) + ", all elements moved at random");
    }
  }

  // All inputs by the same amount: elements that are equal, as the ties of a maximum, stay so.
  void compare_together() {
    std::vector<Array> direction(inputs_.size());
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (inputs_[k].requires_grad()) {
        direction[k] = Array::full(inputs_[k].shape(), 1);
      }
    }
    compare_along(std::move(direction), "all inputs moved alike");
  }

  // Compares the slope along a direction, which is <gradient, direction>. An input without an array
  // does not move. The direction is scaled to about length 1.
  void compare_along(std::vector<Array> direction, const std::string& what) {
    int64_t moved = 0;
    for (const Array& part : direction) {
      moved += part ? part.size() : 0;
    }
    std::vector<Array> kept(inputs_.size());
    double slope = 0, squares = 0;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      kept[k] = inputs_[k].value().clone();
      for (int64_t i = 0; direction[k] && i < kept[k].size(); ++i) {
        real& u = direction[k].mutable_data()[i];
        u *= static_cast<real>(reach_of(kept[k].data()[i]) / std::sqrt(moved));
        const double term = gradient(k, i) * static_cast<double>(u);
        slope += term;
        squares += term * term;
      }
    }
    const auto put = [&](double t) {
      const NoGrad off;
      for (size_t k = 0; k < inputs_.size(); ++k) {
        if (direction[k]) {
          const Array there = zip("gradcheck", kept[k], direction[k],
                                  [t](real x, real u) { return x + static_cast<real>(t) * u; });
          std::copy_n(there.data(), there.size(), inputs_[k].mutable_value());
        }
      }
    };
    const Line line = [&](double t) {
      put(t);
      const double found = value();
      put(0);
      return found;
    };
    const double difference = central_difference(line, options_.step);
    const double error = error_of(slope, difference, std::sqrt(squares), line, options_.step, true);
    expect_small(
        error, [&] { return what; }, slope, difference);
  }

  void expect_near(const char* what, const std::vector<Array>& got, const std::vector<Array>& want,
                   double factor, double tolerance) {
    for (size_t k = 0; k < want.size() && result_.message.empty(); ++k) {
      if (static_cast<bool>(got[k]) != static_cast<bool>(want[k])) {
        fail_with(text(what, ": ", name(k), " has a gradient in one case only"));
      }
      for (int64_t i = 0; want[k] && got[k] && i < want[k].size(); ++i) {
        const double wanted = factor * static_cast<double>(want[k].data()[i]);
        const double found = static_cast<double>(got[k].data()[i]);
        if (!(std::abs(wanted - found) <= tolerance * std::max(1.0, std::abs(wanted)))) {
          fail_with(text(what, ": ", name(k), ", element ", i, ": gradient ", found, ", expected ",
                         wanted));
          break;
        }
      }
    }
  }

  // A backward is linear in its cotangent v: g(-2 v) = -2 g(v) and g(v - w) = g(v) - g(w).
  void check_linear() {
    const Array& v = cotangent_;
    const Array w = random_cotangent(v.shape(), options_.seed + 1);
    expect_near("for -2 times the cotangent",
                analytic(inputs_, 1, map(v, [](real u) { return -2 * u; })), gradients_, -2, 1e-12);
    const auto minus = [](real a, real b) { return a - b; };
    const std::vector<Array> other = analytic(inputs_, 1, w);
    std::vector<Array> rest = gradients_;
    for (size_t k = 0; k < rest.size(); ++k) {
      if (rest[k] && other[k]) rest[k] = zip("gradcheck", rest[k], other[k], minus);
    }
    expect_near("for a difference of cotangents",
                analytic(inputs_, 1, zip("gradcheck", v, w, minus)), rest, 1, 1e-10);
  }

  void check_reuse() {
    const std::vector<Array>& once = gradients_;
    expect_near("run again", analytic(inputs_, 1, cotangent_), once, 1, 0);
    expect_near("used twice in one graph", analytic(inputs_, 2, cotangent_), once, 2, 1e-12);
    const auto wanted = std::count_if(inputs_.begin(), inputs_.end(),
                                      [](const Tensor& input) { return input.requires_grad(); });
    for (size_t k = 0; k < inputs_.size() && wanted > 1; ++k) {
      if (inputs_[k].requires_grad()) {
        Tensors alone;
        for (const Tensor& input : inputs_) alone.push_back(input.detach());
        alone[k] = Tensor::parameter(inputs_[k].value());
        std::vector<Array> expected(inputs_.size());
        expected[k] = once[k];
        expect_near("requiring a gradient alone", analytic(alone, 1, cotangent_), expected, 1,
                    1e-12);
      }
    }
  }

  const Differentiable& f_;
  const GradcheckOptions options_;
  Tensors inputs_;
  Array cotangent_;               // v
  std::vector<Array> gradients_;  // of <v, f>, by backward
  double rounding_ = 0;           // about the rounding error of <v, f>
  GradcheckResult result_;
};

}  // namespace

GradcheckResult gradcheck(const Differentiable& f, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options) {
  require<Error>(is_float64, "gradcheck: needs float64, this is the float32 library; central ",
                 "differences of float32 values are too coarse to check a gradient");
  return Checker(f, inputs, options).run();
}

}  // namespace heed
