#include "layers/module/observers.h"

#include "autograd/graph/graph.h"
#include "layers/module/module.h"

namespace heed {

ForwardObserver::~ForwardObserver() {
  ForwardObserver** at = &current_;
  while (*at != this && *at != nullptr) at = &(*at)->before_;
  require<GraphError>(*at == this, "observer: expected to end on the thread that made it");
  *at = before_;
}

bool is_wanted(const Module& layer, Activation what) {
  const ForwardObserver* const observer = ForwardObserver::current();
  return observer != nullptr && observer->wants(layer, what);
}

Tensor offered(const Module& layer, Activation what, const Tensor& value) {
  if (!is_wanted(layer, what)) {
    return value;
  }
  Array replacement = ForwardObserver::current()->visit(layer, what, value.value());
  if (!replacement) {
    return value;
  }
  require<GraphError>(!NoGrad::recording(), "observer: expected NoGrad for an edit of ",
                      layer.path(), ", a graph is recorded");
  require(replacement.shape() == value.shape(), "observer: expected a replacement ", value.shape(),
          " for an activation of ", layer.path(), ", got ", replacement.shape());
  return Tensor(std::move(replacement));
}

Array AttentionRecorder::visit(const Module& layer, Activation /*what*/, const Array& value) {
  recorded.push_back({layer.path(), value});
  return {};
}

}  // namespace heed
