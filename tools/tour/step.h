// A step of `heed tour`: code as anyone would write it with the ops and layers, and the text of a
// lesson that shows what the code found.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "autograd/ops/reshape.h"
#include "autograd/ops/slice.h"

namespace heed::tour {

// What every step works on. Steps that draw begin with manual_seed(seed), so each can be run alone.
struct Given {
  Tensor inputs;                   // (T, d): one embedded word a row, T >= 2
  std::vector<std::string> words;  // T
  int64_t seed = 123;
  int64_t seed_v2 = 789;  // of SelfAttention_v2, which has its own in the book

  int64_t tokens() const { return inputs.dim(0); }
  int64_t width() const { return inputs.dim(1); }
};

using Value = std::variant<Tensor, Ids, int64_t, std::string>;

// What a step found, by the names that its text uses.
class Shown {
 public:
  struct Entry {
    std::string name;
    Value value;
    std::string key;  // in --json; "" for what the reference file does not hold
  };

  void operator()(const std::string& name, Value value, const std::string& key = "") {
    entries_.push_back({name, std::move(value), key});
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

// `text` is a template; blank lines separate its blocks (see lesson.cpp):
//   {attn_scores = inputs @ inputs^T}   alone: the value shown as attn_scores, under this heading
//   "  x = ..." (indented)              kept as it is: formulas, code
//   anything else                       a paragraph; {name} within it is the value in words
struct Step {
  std::string name;
  std::string title;
  std::string source;  // where the step comes from
  std::string file;    // where its code is
  std::string text;
  void (*run)(const Given& given, Shown& show);
};

std::vector<Step> simple_steps();      // attention without weights
std::vector<Step> trainable_steps();   // queries, keys, values
std::vector<Step> causal_steps();      // masks and dropout
std::vector<Step> multi_head_steps();  // several heads
std::vector<Step> ladder_steps();      // once more from the bottom, a rung at a time

// All of them, in the order of the tour.
std::vector<Step> all_steps();

// x[i], as (d) from x (n, d).
inline Tensor row(const Tensor& x, int64_t i) { return reshape(slice(x, 0, i, i + 1), {x.dim(1)}); }

inline Tensor ones(const Shape& shape) { return Array::full(shape, 1); }

}  // namespace heed::tour
