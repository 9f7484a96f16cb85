// A cache of keys and values for generation token by token: each new token then costs the
// computation of one token instead of all tokens so far.
#pragma once

#include <unordered_map>

#include "autograd/graph/tensor.h"

namespace heed {

class Module;

// Passed to a model in Input::cache in every forward pass. Each pass takes only the next tokens;
// attention layers add their keys and values here and attend to those of all tokens so far. The
// caller calls advance() after each pass. Requires a batch of one and NoGrad.
class KeyValueCache {
 public:
  // Room for `capacity` tokens.
  explicit KeyValueCache(int64_t capacity) : capacity_(capacity) {}

  // Number of tokens in finished forward passes: the position of the next token.
  int64_t length() const { return length_; }
  int64_t capacity() const { return capacity_; }

  struct KeysValues {
    Tensor keys, values;  // (1, length + t, d)
  };
  // Adds keys and values (1, t, d) of a layer's new tokens; returns those of all tokens so far.
  // Throws ShapeError for a batch or beyond the capacity, GraphError while a graph is recorded, and
  // Error for a layer that was here in this pass already: its rows would be overwritten.
  KeysValues extend(const Module& layer, const Tensor& keys, const Tensor& values);

  // Marks a forward pass over `tokens` tokens as finished.
  void advance(int64_t tokens) {
    length_ += tokens;
    ++pass_;
  }
  void clear() {
    length_ = 0;
    ++pass_;
  }

 private:
  struct Rows {
    Array keys, values;  // (1, capacity, d); the first rows are in use
    int64_t pass = 0;    // that wrote the last ones
  };
  Array append(Array& rows, const Tensor& added) const;

  int64_t capacity_;
  int64_t length_ = 0;
  int64_t pass_ = 1;  // the number of this forward pass
  std::unordered_map<const Module*, Rows> layers_;
};

}  // namespace heed
