#include "tools/extras/gradients/learn/measured.h"

#include <algorithm>
#include <cmath>

#include "tools/extras/gradients/measure/sgd_step.h"
#include "train/check/gradients/samples.h"
#include "train/check/gradients/slopes.h"
#include "train/step.h"

namespace heed::gradients {

std::vector<Rate> try_rates(Module& model, const Input& in, const Target& target, double lr,
                            int64_t count) {
  const NoGrad off;
  std::vector<Rate> rates;
  for (int64_t k = 0; k <= count; ++k) {
    const double share = static_cast<double>(k) / static_cast<double>(count);
    Rate rate{.lr = share * share * lr};
    const SgdStep step(trained_parameters(model), rate.lr);
    const Array logits = model(in).value();
    const std::vector<double> p = probabilities(logits, target.row);
    rate.loss = loss_of(logits, target).loss;
    if (!std::isfinite(rate.loss)) break;
    rate.likeliest = static_cast<int32_t>(std::max_element(p.begin(), p.end()) - p.begin());
    rate.probability = p[static_cast<size_t>(rate.likeliest)];
    rates.push_back(rate);
  }
  return rates;
}

double slope_of(const Module& model) {
  double squares = 0;
  for (const NamedParameter& each : trained_parameters(model)) {
    if (const Array gradient = each.tensor.grad())
      squares += std::pow(euclidean_norm(gradient.span()), 2);
  }
  return squares;
}

std::vector<Slope> measure_slopes(Module& model, const Input& in, const Target& target,
                                  int64_t count) {
  const NoGrad off;
  constexpr double h = is_float64 ? 1e-4 : 1e-2;
  std::vector<Slope> slopes;
  std::vector<NamedParameter> parameters = trained_parameters(model);
  const int64_t each_has = std::max<int64_t>(2, count / std::ssize(parameters) + 1);
  const auto smaller = [](real a, real b) { return std::abs(a) < std::abs(b); };
  for (NamedParameter& each : parameters) {
    const Array gradient =
        each.tensor.grad() ? each.tensor.grad() : Array::zeros(each.tensor.shape());
    std::vector<int64_t> elements = sampled_elements(gradient.shape(), each_has);
    const auto all = gradient.span();
    const auto steepest = std::max_element(all.begin(), all.end(), smaller) - all.begin();
    if (std::count(elements.begin(), elements.end(), steepest) == 0) elements.back() = steepest;
    for (const int64_t at : elements) {
      const real before = each.tensor.value().data()[at];
      const auto move_to = [&](real w) { each.tensor.mutable_value()[at] = w; };
      const Line line = [&](double t) {
        move_to(static_cast<real>(static_cast<double>(before) + t));
        return loss_of(model(in).value(), target).loss;
      };
      const double difference = central_difference(line, h);
      move_to(before);
      slopes.push_back({each.name, at, static_cast<double>(gradient.data()[at]), difference});
    }
  }
  return slopes;
}

}  // namespace heed::gradients
