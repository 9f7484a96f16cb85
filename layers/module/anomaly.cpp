#include "layers/module/anomaly.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "autograd/array/reduce.h"
#include "autograd/base/error.h"
#include "autograd/graph/graph_observer.h"
#include "autograd/graph/layer_scope.h"

namespace heed {

namespace {

// Throws if a number is not finite: "anomaly: log in trf_blocks.0.att made NaN at element 17 of
// shape (4, 8)".
void check(const char* what, const char* op, const char* layer_path, const Array& values) {
  if (all_finite(values)) {
    return;
  }
  const auto all = values.span();
  const auto bad = std::find_if(all.begin(), all.end(), [](real v) { return !std::isfinite(v); });
  fail<DivergedError>("anomaly: ", what, op, *layer_path == '\0' ? "" : " in ", layer_path,
                      " made ", std::isnan(*bad) ? "NaN" : "infinity", " at element ",
                      bad - all.begin(), " of shape ", values.shape());
}

class AnomalyCheck final : public GraphObserver {
 public:
  void made(const char* op, const Array& value, int64_t /*numbers*/) override {
    check("", op, LayerScope::current(), value);
  }

  void has_run(std::span<const NodeRef> nodes, size_t k, bool reached) override {
    Node& node = *nodes[k].get();
    for (const NodeRef& input : node.inputs()) {
      if (reached && input && input->gradient) {
        check("backward of ", node.op(), node.layer_path(), input->gradient.current());
      }
    }
  }
};

thread_local std::optional<AnomalyCheck> own_check;

}  // namespace

bool anomaly_mode() { return own_check.has_value(); }

void set_anomaly_mode(bool on) {
  own_check.reset();
  if (on) {
    own_check.emplace();
  }
}

}  // namespace heed
