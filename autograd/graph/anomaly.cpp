#include "autograd/graph/anomaly.h"

#include <cmath>
#include <string>

#include "autograd/graph/graph.h"

namespace heed {

namespace {

std::string in_layer(const char* layer_path) {
  return *layer_path == '\0' ? "" : text(" in ", layer_path);
}

// Describes the first element that is not finite: "NaN at element 17 of shape (4, 8)".
std::string first_bad(const Array& values) {
  const real* v = values.data();
  int64_t i = 0;
  while (i < values.size() && std::isfinite(v[i])) {
    ++i;
  }
  return text(std::isnan(v[i]) ? "NaN" : "infinity", " at element ", i, " of shape ",
              values.shape());
}

}  // namespace

bool all_finite(const Array& values) {
  const real* v = values.data();
  // x - x is 0 for finite x, else NaN. The sum is 0 only if no term is NaN. (No branch: it is a
  // vector loop.)
  return parallel_sum(values.size(), elementwise_grain, [v](int64_t begin, int64_t end) {
           real sum = 0;
#pragma omp simd reduction(+ : sum)
           for (int64_t i = begin; i < end; ++i) {
             sum += v[i] - v[i];
           }
           return static_cast<double>(sum);
         }) == 0.0;
}

void check_value(const char* op, const Array& value) {
  if (anomaly_mode() && !all_finite(value)) {
    fail<DivergedError>("anomaly: ", op, in_layer(LayerScope::current()), " made ",
                        first_bad(value));
  }
}

void check_gradients(Node& node) {
  if (!anomaly_mode()) {
    return;
  }
  for (const NodeRef& input : node.inputs()) {
    if (!input || !input->gradient) {
      continue;
    }
    if (const Array gradient = input->gradient.current(); !all_finite(gradient)) {
      fail<DivergedError>("anomaly: backward of ", node.op(), in_layer(node.layer_path()), " made ",
                          first_bad(gradient));
    }
  }
}

}  // namespace heed
