// A step of `heed tour`: code that uses the ops and layers as a user would, and a text that shows
// the values it computed.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "autograd/ops/reshape.h"
#include "autograd/ops/slice.h"
#include "layers/module/module.h"

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
    std::string key;  // key in --json; "" if not in the reference file
  };

  void operator()(const std::string& name, Value value, const std::string& key = "") {
    entries_.push_back({name, std::move(value), key});
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
};

std::vector<Step> translation_steps();  // why attention
std::vector<Step> simple_steps();       // attention without weights
std::vector<Step> trainable_steps();    // queries, keys, values
std::vector<Step> causal_steps();       // masks and dropout
std::vector<Step> multi_head_steps();   // several heads
std::vector<Step> ladder_steps();       // from the bottom up, one rung at a time
std::vector<Step> block_steps();        // around attention: a block of a GPT
std::vector<Step> language_steps();     // from vectors to text, and what training changes

// All steps, in the order of the tour.
std::vector<Step> all_steps();

// x[i]: row i of x (n, d), as (d).
inline Tensor row(const Tensor& x, int64_t i) { return reshape(slice(x, 0, i, i + 1), {x.dim(1)}); }

// The parameters of a layer, under their names: "W_query.weight".
inline void draw(StepValues& show, const Module& layer, const std::string& prefix = "") {
  for (const NamedParameter& parameter : layer.parameters()) {
    show.drawn(prefix + parameter.name, parameter.tensor);
  }
}

inline Tensor ones(const Shape& shape) { return Array::full(shape, 1); }

}  // namespace heed::tour
