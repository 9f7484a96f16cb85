// The steps of `heed tour`, and what they share.
#pragma once

#include <algorithm>
#include <cmath>

#include "autograd/array/map.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/reshape.h"
#include "autograd/ops/slice.h"
#include "autograd/ops/stack.h"
#include "layers/module/module.h"
#include "tools/extras/tour/step.h"

namespace heed::tour {

std::vector<Step> translation_steps();  // why attention
std::vector<Step> simple_steps();       // attention without weights
std::vector<Step> trainable_steps();    // queries, keys, values
std::vector<Step> causal_steps();       // masks and dropout
std::vector<Step> multi_head_steps();   // several heads
std::vector<Step> cost_steps();         // what a loop over heads costs
std::vector<Step> ladder_steps();       // from the bottom up, one rung at a time
std::vector<Step> block_steps();        // around attention: a block of a GPT
std::vector<Step> language_steps();     // from vectors to text
std::vector<Step> gradient_steps();     // what training changes

// All steps, in the order of the tour.
std::vector<Step> all_steps();

std::vector<Step> backward_parts();    // from a loss back to the words
std::vector<Step> planted_mistakes();  // how a check finds them

// Those of `heed tour backward`, which comes after the tour.
std::vector<Step> backward_steps();

// x[i]: row i of x (n, d), as (d). Of x (n, ...): without its first axis.
inline Tensor row(const Tensor& x, int64_t i) {
  return reshape(slice(x, 0, i, i + 1), x.shape().without(0));
}

// (2, T, d): the same text twice.
inline Tensor batch_of_two(const TourInputs& in) { return stack({in.inputs, in.inputs}); }

// The parameters of a layer, under their names: "W_query.weight".
inline void draw(StepValues& show, const Module& layer, const std::string& prefix = "") {
  for (const NamedParameter& parameter : layer.parameters()) {
    show.drawn(prefix + parameter.name, parameter.tensor);
  }
}

inline Tensor ones(const Shape& shape) { return Array::full(shape, 1); }

// 1 where x is not 0, else 0: Tensor.bool() of PyTorch.
inline Mask nonzero(const Array& x) {
  return map<uint8_t>(x, [](real v) { return v != 0; });
}

// The largest |a - b|, as text.
inline std::string largest_difference(const Tensor& a, const Tensor& b) {
  const Array gap = (a - b).value();
  real largest = 0;
  for (const real v : gap.span()) {
    largest = std::max(largest, std::abs(v));
  }
  return text(largest);
}

}  // namespace heed::tour
