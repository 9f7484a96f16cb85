#include "tools/extras/explain/recorder.h"

#include "autograd/ops/concat.h"

namespace heed::explain {

void Recorder::before_forward(const Module& layer, const Input& in) {
  if (in.x) {
    inputs_[&layer] = in.x.value();
  }
  ++depth_;
}

void Recorder::after_forward(const Module& layer, const Input& in, const Tensor& out) {
  outputs_[&layer] = out.value();
  if (--depth_ == 1) {
    calls_.push_back({&layer, in.x ? in.x.value() : Array(), out.value()});
    context_ = in.context ? without_batch_axis(in.context.value()) : context_;
  }
}

Array Recorder::visit(const Module& layer, Activation what, const Array& value) {
  if (what == Activation::attn_weights) {
    Array& kept = weights_[&layer];  // of the heads so far
    kept = kept ? concat({kept, value}, 1).value() : value;
  }
  return {};
}

namespace {

Array found_in(const std::map<const Module*, Array>& values, const Module& layer) {
  const auto found = values.find(&layer);
  return found == values.end() ? Array() : without_batch_axis(found->second);
}

}  // namespace

Array Recorder::input(const Module& layer) const { return found_in(inputs_, layer); }
Array Recorder::output(const Module& layer) const { return found_in(outputs_, layer); }

Array Recorder::weights(const Module& layer) const {
  if (Array own = found_in(weights_, layer)) {
    return own;
  }
  std::vector<Tensor> inside;
  for (const auto& [name, child] : layer.children()) {
    if (const Array of_child = weights(*child)) {
      inside.emplace_back(of_child);
    }
  }
  return inside.empty() ? Array() : concat(inside, 0).value();
}

Array without_batch_axis(const Array& x) { return x.reshaped(x.shape().without(0)); }

}  // namespace heed::explain
