// Observers of running layers. They see the output of every layer and the inside of attention, and
// may replace either.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "autograd/graph/tensor.h"

namespace heed {

struct Input;
class Module;

// x = x + layer(norm(x)), one of the steps of a block.
struct Branch {
  const Module* norm;
  const Module* layer;
  bool attends;           // or it is a feed-forward
  bool parallel = false;  // norm reads what that of the step before it has read
};

// A value inside a model that an observer can see and replace.
enum class Activation {
  output,  // any layer: a block's is the residual stream, that of att and ff what they add to it
  attn_weights,  // (B, H, T, S), before dropout; every row sums to 1, or to 0 if all is hidden
  heads,         // z (B, T, H, d): what each head mixed from its values, before out_proj
};

// While an observer is alive, every layer of its thread calls it. Without a replacement, what is
// computed does not depend on it. `heed inspect` and `heed probe` are made of observers. Only the
// innermost observer of a thread is called. Several may end in any order.
//
// A layer that attends to several heads one by one offers a head at a time, H = 1, in their order.
class ForwardObserver {
 public:
  ForwardObserver() : before_(std::exchange(current_, this)) {}
  virtual ~ForwardObserver();
  ForwardObserver(const ForwardObserver&) = delete;
  ForwardObserver& operator=(const ForwardObserver&) = delete;

  static ForwardObserver* current() { return current_; }
  virtual void before_forward(const Module&, const Input&) {}
  virtual void after_forward(const Module&, const Input&, const Tensor& /*out*/) {}
  // A layer whose output, of this shape, exists only inside an operation of its parent, and the
  // floating-point operations of its matrix products.
  virtual void within_operation(const Module&, const Shape&, int64_t) {}

  // Whether visit() is to be called with this activation of the layer. Attention computes its
  // weights, which the fused kernel does not keep, only for observers that want them.
  virtual bool wants(const Module&, Activation) const { return false; }
  // Returns what takes the place of the activation, an array of its shape, or no array to leave it.
  virtual Array visit(const Module&, Activation, const Array&) { return {}; }

 private:
  HEED_ONE_PER_THREAD static inline thread_local ForwardObserver* current_ = nullptr;
  ForwardObserver* before_;
};

// True if the current observer wants this activation.
bool is_wanted(const Module& layer, Activation what);

// Shows an activation to the current observer, if it wants it. Returns the observer's replacement
// or, if there is none, `value` itself. Throws ShapeError for a replacement of another shape, and
// GraphError for one while a graph is recorded: gradients would not be those of what was computed.
Tensor offered(const Module& layer, Activation what, const Tensor& value);

// Keeps the weights of all attention layers that run while it is alive, in their order.
class AttentionRecorder : public ForwardObserver {
 public:
  struct Weights {
    std::string path;  // of the layer
    Array weights;     // (B, H, T, S), as Activation::attn_weights
  };
  std::vector<Weights> recorded;

  bool wants(const Module&, Activation what) const override {
    return what == Activation::attn_weights;
  }
  Array visit(const Module& layer, Activation what, const Array& value) override;
};

}  // namespace heed
