// What can be watched while layers run: attention weights, and the output of every layer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "autograd/graph/tensor.h"

namespace heed {

struct Input;
class Module;

// While one exists, layers that attend add their weights to it: for pictures.
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
  static inline thread_local AttentionRecorder* current_ = nullptr;
  AttentionRecorder* before_;
};

// While one exists, it is told what every layer made: for the tree of shapes that `inspect` prints.
class ForwardObserver {
 public:
  ForwardObserver() : before_(std::exchange(current_, this)) {}
  virtual ~ForwardObserver() { current_ = before_; }
  ForwardObserver(const ForwardObserver&) = delete;
  ForwardObserver& operator=(const ForwardObserver&) = delete;

  static ForwardObserver* current() { return current_; }
  virtual void before_forward(const Module&, const Input&) {}
  virtual void after_forward(const Module& layer, const Input& in, const Tensor& out) = 0;

 private:
  static inline thread_local ForwardObserver* current_ = nullptr;
  ForwardObserver* before_;
};

}  // namespace heed
