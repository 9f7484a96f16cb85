// What layers keep from token to token while text is generated, so that each new token costs the
// computation of one token instead of all tokens so far.
#pragma once

#include <any>
#include <unordered_map>

#include "autograd/graph/graph.h"

namespace heed {

class Module;

// Passed to a model in Input::cache in every forward pass. Each pass takes only the next tokens. A
// layer whose output depends on earlier tokens keeps what it needs of them here, in a struct that
// it defines: attention its keys and values, a recurrent layer a state of fixed size. The caller
// calls advance() after each pass. Requires NoGrad.
//   struct Seen { Array sum; };                             // value-initialised at first
//   if (in.cache != nullptr) {
//     Seen& seen = in.cache->state_of<Seen>(*this);         // as the previous pass left it
//     ...
class Cache {
 public:
  // Room for `capacity` tokens.
  explicit Cache(int64_t capacity) : capacity_(capacity) {}

  // Number of tokens in finished forward passes: the position of the next token.
  int64_t length() const { return length_; }
  int64_t capacity() const { return capacity_; }

  // Returns the state of a layer, to be read and updated; State{} in the first pass. State must be
  // copyable. Check the input before this call. Throws GraphError while a graph is recorded, and
  // Error for a layer that was here in this pass already: its state includes the new tokens then.
  template <class State>
  State& state_of(const Module& layer) {
    std::any& state = enter(layer);
    if (!state.has_value()) {
      state.emplace<State>();
    }
    State* const found = std::any_cast<State>(&state);
    if (found == nullptr) {
      throw_other_type(layer);
    }
    return *found;
  }

  // Writes the rows of `added` (1, t, d) behind those of the tokens in finished passes, in `rows`,
  // which is no array at first. Returns all of them, (1, length() + t, d), which must fit into the
  // capacity.
  Array append(Array& rows, const Array& added) const;

  // Marks a forward pass over `tokens` tokens as finished.
  void advance(int64_t tokens) {
    length_ += tokens;
    ++pass_;
  }

 private:
  struct Entry {
    std::any state;
    int64_t pass = 0;  // that updated it last
  };
  // The state of the layer, which this pass has not updated yet.
  std::any& enter(const Module& layer);
  [[noreturn]] static void throw_other_type(const Module& layer);

  int64_t capacity_;
  int64_t length_ = 0;
  int64_t pass_ = 1;  // the number of this forward pass
  std::unordered_map<const Module*, Entry> layers_;
};

}  // namespace heed
