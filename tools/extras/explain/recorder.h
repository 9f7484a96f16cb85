// Everything that the layers of a model take and give in one forward pass.
#pragma once

#include <map>
#include <vector>

#include "layers/module/module.h"

namespace heed::explain {

class Recorder final : public ForwardObserver {
 public:
  void before_forward(const Module& layer, const Input& in) override;
  void after_forward(const Module& layer, const Input& in, const Tensor& out) override;
  bool wants(const Module&, Activation what) const override { return what != Activation::output; }
  Array visit(const Module& layer, Activation what, const Array& value) override;

  // x and y of a layer that ran, without the batch: (T, d). No array if it did not run, or if x are
  // ids.
  Array input(const Module& layer) const;
  Array output(const Module& layer) const;
  // The layers of the model itself, in the order in which they ran, and what some read as context.
  struct Call {
    const Module* layer;
    Array x, y;  // no x: it read ids
  };
  const std::vector<Call>& calls() const { return calls_; }
  const Array& context() const { return context_; }
  // The attention weights (H, T, S) of a layer, or of those inside of it that attend, in their
  // order; no array if there are none.
  Array weights(const Module& layer) const;

 private:
  std::map<const Module*, Array> inputs_, outputs_, weights_;
  Array context_;
  std::vector<Call> calls_;
  int64_t depth_ = 0;  // layers that are running
};

// x (1, ...) without its first axis.
Array without_batch_axis(const Array& x);

}  // namespace heed::explain
