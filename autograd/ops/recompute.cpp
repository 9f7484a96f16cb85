#include "autograd/ops/recompute.h"

#include <memory>

namespace heed {

std::vector<Tensor> recompute(const std::vector<Tensor>& inputs,
                              std::function<std::vector<Tensor>()> f) {
  require<GraphError>(!inputs.empty(), "recompute: expected at least one input");
  if (!NoGrad::recording()) {
    return f();
  }
  const Streams before = streams();
  std::vector<Tensor> outputs = [&f] {
    const NoGrad off;
    return f();
  }();
  // d(loss)/d(output k); no array if none came
  const auto arrived = std::make_shared<std::vector<Array>>(outputs.size());
  std::vector<NodeRef> ends;
  for (const Tensor& input : inputs) {
    if (input.requires_grad()) ends.push_back(input.node());
  }
  auto again = [f = std::move(f), before, arrived, ends](const Array&, Grads&) {
    require<GraphError>(NoGrad::recording(), "recompute: a backward pass under NoGrad, which f ",
                        "needs to run again with a graph");
    const Streams now = std::exchange(streams(), before);
    std::vector<Tensor> same = f();
    streams() = now;
    require<GraphError>(same.size() == arrived->size(), "recompute: expected ", arrived->size(),
                        " outputs as in the forward pass, got ", same.size());
    const Tensor all =
        record("recompute", Array::zeros({}), same, [arrived](const Array&, Grads& grads) {
          for (size_t k = 0; k < arrived->size(); ++k) {
            if (grads.needs(k) && (*arrived)[k]) grads.add(k, std::move((*arrived)[k]));
          }
        });
    same.clear();
    if (all.requires_grad()) run_backward(all.node(), Array::zeros({}), ends);
  };
  const NodeRef node = Node::make("recompute", Shape{}, inputs.size(), std::move(again));
  for (size_t k = 0; k < inputs.size(); ++k) node->set_input(k, inputs[k].node());
  const Tensor of_f(Array::zeros({}), node);
  for (size_t k = 0; k < outputs.size(); ++k) {
    outputs[k] = record("recompute", outputs[k].value(), {of_f},
                        [arrived, k](const Array& dy, Grads& grads) {
                          (*arrived)[k] = dy;
                          grads.add(0, Array::zeros({}));
                        });
  }
  return outputs;
}

}  // namespace heed
