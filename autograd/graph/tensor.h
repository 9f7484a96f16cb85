// Tensor, the handle that users hold: a value and, if it requires a gradient, its node in the
// graph. Also record(), which every operation calls to make a node.
#pragma once

#include <functional>
#include <initializer_list>

#include "autograd/graph/graph.h"
#include "autograd/graph/graph_observer.h"

namespace heed {

// Copies are cheap and share value, node and gradient, as in PyTorch.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Array value) : value_(std::move(value)) {}  // NOLINT: a constant, without a gradient
  Tensor(real number) : value_(Array::full({}, number)) {}  // NOLINT: a constant of rank 0
  Tensor(Array value, NodeRef node) : value_(std::move(value)), node_(std::move(node)) {}

  // A leaf: backward passes accumulate its gradient.
  static Tensor parameter(Array value) {
    NodeRef node = Node::leaf(value.shape());
    return Tensor(std::move(value), std::move(node));
  }

  explicit operator bool() const { return static_cast<bool>(value_); }

  // The value, with every change that an optimizer has made to it; an empty Array for Tensor().
  Array value() const { return value_.current(); }
  const Shape& shape() const { return value_.shape(); }
  int rank() const { return value_.rank(); }
  int64_t size() const { return value_.size(); }
  int64_t dim(int axis) const { return value_.dim(axis); }

  // The element of a tensor of size 1.
  real item() const {
    require(size() == 1, "item: expected a tensor of one element, got ", shape());
    return value().data()[0];
  }

  const NodeRef& node() const { return node_; }
  bool requires_grad() const { return static_cast<bool>(node_); }

  // The accumulated gradient of a leaf; an empty Array before the first backward. No other leaf
  // shares its buffer, so it may be changed in place.
  Array grad() const { return node_ ? node_->gradient.current() : Array(); }
  // Replaces the gradient of a leaf. `gradient` has the shape of the leaf.
  void set_grad(Array gradient) {
    require<GraphError>(node_ && node_->is_leaf(), "set_grad: expected a leaf, made by ",
                        "Tensor::parameter, got another tensor of shape ", shape());
    require(gradient && gradient.shape() == shape(), "set_grad: expected a gradient of shape ",
            shape(), ", got ", gradient ? text(gradient.shape()) : "no array");
    node_->gradient = Array();
    node_->add_gradient(std::move(gradient));
  }
  void zero_grad() {
    if (node_) node_->gradient = Array();
  }

  // For a single number: adds d(this)/d(leaf) to the gradient of every leaf that it depends on.
  void backward() const {
    require(size() == 1, "backward: expected a single number, got shape ", shape(),
            "; give a cotangent of that shape");
    run_backward(node_, Array::full(shape(), 1));
  }
  // The same for a tensor of any shape, given the cotangent d(loss)/d(this), of the same shape.
  void backward(Array cotangent) const { run_backward(node_, std::move(cotangent)); }

  // The same value as a constant, without the graph behind it.
  Tensor detach() const { return Tensor(value_); }

  // The buffer of the value: optimizers and initialisers overwrite it, under NoGrad. A backward
  // that saved the old value throws GraphError when it reads it.
  real* mutable_value() {
    require<GraphError>(!requires_grad() || !NoGrad::recording(),
                        "mutable_value: values that want a gradient change under NoGrad only");
    return value_.mutable_data();
  }

 private:
  Array value_;
  NodeRef node_;
};

using TensorRefs = std::initializer_list<std::reference_wrapper<const Tensor>>;

// Passed to record() by an operation without a backward: record() throws GraphError if an input
// requires a gradient.
struct NoBackward {};

namespace detail {
[[noreturn]] void throw_no_backward(const char* op);

template <class Inputs, class Backward>
Tensor record(const char* op, Array&& value, const Inputs& inputs, Backward&& backward) {
  if (GraphObserver::exists()) {
    int64_t numbers = value.size();
    for (const Tensor& input : inputs) {
      numbers += input ? input.size() : 0;
    }
    GraphObserver::each([&](GraphObserver& observer) { observer.made(op, value, numbers); });
  }
  bool wanted = false;
  for (const Tensor& input : inputs) {
    wanted = wanted || input.requires_grad();
  }
  if (!wanted || !NoGrad::recording()) {
    return Tensor(std::move(value));
  }
  if constexpr (std::is_same_v<std::decay_t<Backward>, NoBackward>) {
    throw_no_backward(op);
  } else {
    NodeRef node =
        Node::make(op, value.shape(), std::size(inputs), std::forward<Backward>(backward));
    size_t k = 0;
    for (const Tensor& input : inputs) {
      node->set_input(k++, input.node());
    }
    return Tensor(std::move(value), std::move(node));
  }
}
}  // namespace detail

// Every operation ends with this call. Returns `value` as a tensor, and adds a node to the graph if
// one of the inputs requires a gradient. An input may be Tensor(): an argument that was not given.
//   backward(const Array& dy, Grads& grads)
// gets dy = d(loss)/d(value). It calls grads.add(k, ...) for each input k that needs a gradient.
// What the closure captures is saved until the backward pass. Capture Arrays, never Tensors: these
// would keep the graph alive. `op` must be a string literal.
template <class Backward>
Tensor record(const char* op, Array value, TensorRefs inputs, Backward&& backward) {
  return detail::record(op, std::move(value), inputs, std::forward<Backward>(backward));
}
template <class Backward>
Tensor record(const char* op, Array value, const std::vector<Tensor>& inputs, Backward&& backward) {
  return detail::record(op, std::move(value), inputs, std::forward<Backward>(backward));
}

}  // namespace heed
