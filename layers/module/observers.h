// Observers of running layers: of attention weights, and of the output of every layer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "autograd/graph/tensor.h"

namespace heed {

struct Input;
class Module;

// While a recorder is alive, attention layers of its thread append their weights to it. Pictures of
// attention are drawn from them.
class AttentionRecorder {
 public:
  struct Weights {
    std::string path;  // of the layer
    Array weights;  // (B, H, T, S), before dropout; every row sums to 1, or to 0 if all is hidden
  };

  AttentionRecorder() : before_(std::exchange(current_, this)) {}
  ~AttentionRecorder() { current_ = before_; }
  AttentionRecorder(const AttentionRecorder&) = delete;
  AttentionRecorder& operator=(const AttentionRecorder&) = delete;

  static AttentionRecorder* current() { return current_; }
  std::vector<Weights> recorded;

 private:
  HEED_ONE_PER_PROCESS static inline thread_local AttentionRecorder* current_ = nullptr;
  AttentionRecorder* before_;
};

// While an observer is alive, every layer of its thread calls it before and after forward(). What
// is computed does not depend on it. `heed inspect` uses this to print the tree of shapes.
class ForwardObserver {
 public:
  ForwardObserver() : before_(std::exchange(current_, this)) {}
  virtual ~ForwardObserver() { current_ = before_; }
  ForwardObserver(const ForwardObserver&) = delete;
  ForwardObserver& operator=(const ForwardObserver&) = delete;

  static ForwardObserver* current() { return current_; }
  virtual void before_forward(const Module&, const Input&) {}
  virtual void after_forward(const Module& layer, const Input& in, const Tensor& out) = 0;
  // A layer whose output, of this shape, exists only inside an operation of its parent, and the
  // floating-point operations of its matrix products.
  virtual void within_operation(const Module&, const Shape&, int64_t) {}

 private:
  HEED_ONE_PER_PROCESS static inline thread_local ForwardObserver* current_ = nullptr;
  ForwardObserver* before_;
};

}  // namespace heed
