#include "tools/extras/gradients/backward/loss.h"

#include <algorithm>
#include <cmath>

namespace heed::gradients {

namespace {

std::span<const real> row_of(const Array& logits, int64_t row) {
  const auto width = static_cast<size_t>(logits.dim(-1));
  return logits.span().subspan(static_cast<size_t>(row) * width, width);
}

// ln sum_j exp x_j
double log_sum(std::span<const real> x) {
  const auto largest = static_cast<double>(*std::max_element(x.begin(), x.end()));
  double sum = 0;
  for (const real each : x) sum += std::exp(static_cast<double>(each) - largest);
  return largest + std::log(sum);
}

}  // namespace

Target last_target(const Array& logits, int32_t column) {
  return {logits.size() / logits.dim(-1) - 1, column};
}

std::vector<double> probabilities(const Array& logits, int64_t row) {
  const auto of = row_of(logits, row);
  const double whole = log_sum(of);
  std::vector<double> p;
  for (const real logit : of) p.push_back(std::exp(static_cast<double>(logit) - whole));
  return p;
}

Loss loss_of(const Array& logits, const Target& target) {
  const auto of = row_of(logits, target.row);
  const double loss = log_sum(of) - static_cast<double>(of[static_cast<size_t>(target.column)]);
  return {loss, std::exp(-loss)};
}

Array loss_cotangent(const Array& logits, const Target& target) {
  Array cotangent = Array::zeros(logits.shape());
  const std::vector<double> p = probabilities(logits, target.row);
  real* const to = cotangent.mutable_data() + target.row * std::ssize(p);
  std::transform(p.begin(), p.end(), to, [](double each) { return static_cast<real>(each); });
  to[target.column] = static_cast<real>(p[static_cast<size_t>(target.column)] - 1);
  return cotangent;
}

Array measure_cotangent(const Array& logits, const probe::Measure& measure) {
  Array cotangent = Array::zeros(logits.shape());
  real* const last = cotangent.mutable_data() + logits.size() - logits.dim(-1);
  last[measure.answer] = 1;
  if (measure.wrong) last[*measure.wrong] = -1;
  return cotangent;
}

}  // namespace heed::gradients
