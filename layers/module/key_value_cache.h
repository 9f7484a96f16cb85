// Keys and values of the tokens that a model has seen: one more token then costs one token, not
// all.
#pragma once

#include <unordered_map>

#include "autograd/graph/tensor.h"

namespace heed {

class Module;

// Given to a model in Input::cache, again and again: each forward pass sees the tokens that come
// next, and its layers attend to those before as well. Batches of one, without a graph.
class KeyValueCache {
 public:
  // Room for `capacity` tokens.
  explicit KeyValueCache(int64_t capacity) : capacity_(capacity) {}

  // Tokens of the forward passes that are over: the position of the next one.
  int64_t length() const { return length_; }
  int64_t capacity() const { return capacity_; }

  struct KeysValues {
    Tensor keys, values;  // (1, length + t, d)
  };
  // Adds the keys and values (1, t, d) of a layer's tokens; gives those of all tokens so far.
  KeysValues extend(const Module& layer, const Tensor& keys, const Tensor& values);

  // A forward pass over `tokens` tokens is over.
  void advance(int64_t tokens) { length_ += tokens; }
  void clear() { length_ = 0; }

 private:
  struct Rows {
    Array keys, values;  // (1, capacity, d); the first rows are in use
  };
  Array append(Array& rows, const Tensor& added) const;

  int64_t capacity_;
  int64_t length_ = 0;
  std::unordered_map<const Module*, Rows> layers_;
};

}  // namespace heed
