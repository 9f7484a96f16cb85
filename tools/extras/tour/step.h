// A step of `heed tour`: code that uses the ops and layers as a user would, and a text that shows
// the values it computed.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "autograd/array/ids.h"
#include "autograd/graph/tensor.h"

namespace heed::tour {

// The inputs of every step. Steps that draw call manual_seed(seed) first, so each can be run alone.
struct TourInputs {
  Tensor inputs;                   // (T, d): one word embedding per row, T >= 2
  std::vector<std::string> words;  // T
  int64_t seed = 123;
  int64_t seed_v2 = 789;  // for SelfAttention_v2, which has its own seed in the book

  int64_t tokens() const { return inputs.dim(0); }
  int64_t width() const { return inputs.dim(1); }
};

using Value = std::variant<Tensor, Ids, int64_t, std::string>;

// The values a step computed, by the names used in its text.
class StepValues {
 public:
  struct Entry {
    std::string name;
    Value value;
    std::string key;     // key in --json; "" if not in the reference file
    bool alone = false;  // the key is for --json of this step alone
  };

  void operator()(const std::string& name, Value value, const std::string& key = "") {
    entries_.push_back({name, std::move(value), key});
  }
  // A value whose key is its name, where --json is of this step alone.
  void own(const std::string& name, Value value) {
    entries_.push_back({name, std::move(value), name, /*alone=*/true});
  }
  const std::vector<Entry>& entries() const { return entries_; }

  // A value that no text names: weights and dropout masks, which do not depend on the inputs.
  // The page of the tour computes its steps from them and from the inputs (lessons.js).
  void drawn(const std::string& name, const Tensor& value) { drawn_.push_back({name, value, ""}); }
  const std::vector<Entry>& drawn() const { return drawn_; }

 private:
  std::vector<Entry> entries_, drawn_;
};

// `text` is a template of blocks separated by blank lines (see lesson.cpp):
//   {attn_scores = inputs @ inputs^T}   alone: the value attn_scores under this heading
//   "  x = ..." (indented)              copied unchanged: formulas, code
//   anything else                       a paragraph; {name} within it is replaced by the value
struct Step {
  std::string name;
  std::string title;
  std::string source;  // where the step comes from (book, paper)
  std::string file;    // the source file of the step
  std::string text;
  void (*run)(const TourInputs& in, StepValues& show);
  bool records = false;  // the graph, for a backward pass; others run under NoGrad
  // Its numbers are shown with three significant digits. Next to a value x that has one stands
  // x_check, the same by differences. Only the numbers for a page are computed in float32 as well.
  bool in_float64 = false;
};

}  // namespace heed::tour
