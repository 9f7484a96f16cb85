// The model of `heed tour backward`: a GPT of one block that has each part once, small enough for
// every number of it to be shown. It reads all words but the last and says what comes next.
//
//   normed  = layer_norm(x)                                       x (n, d), n = T - 1
//   queries = normed @ W_query^T, keys and values likewise        (n, 4): two heads, each 2 wide
//   for head h:
//     scores_h  = queries_h @ keys_h^T                            (n, n)
//     masked_h  = scores_h / sqrt(2), -inf above the diagonal
//     weights_h = softmax(masked_h)
//     dropped_h = weights_h * kept_h                              0 or 1 / (1 - p)
//     mixed_h   = dropped_h @ values_h                            (n, 2)
//     vote_h    = mixed_h @ W_out_h^T                             (n, d)
//   z       = x + vote_1 + vote_2
//   logits  = z @ W_vocab^T                                       (n, T)
//   loss    = the mean over rows of -log softmax(logits)[next word]
#pragma once

#include <map>

#include "tools/extras/tour/step.h"
#include "tools/extras/tour/training/at_each.h"

namespace heed::tour {

using Named = std::map<std::string, Tensor>;

class SmallGpt {
 public:
  static constexpr int64_t heads = 2, head_width = 2;
  static constexpr int64_t most = 8;  // words and numbers a word; of larger inputs the first ones

  // Rounding and curvature leave eight digits or more of such a difference in float64.
  static constexpr double step_of_differences = 1e-3;

  explicit SmallGpt(const TourInputs& in);

  // Weights, dropout masks and x, as drawn or given.
  const Named& leaves() const { return leaves_; }
  const Ids& next() const { return next_; }  // (n): the word that follows

  Tensor loss(const AtEach& at) const;  // ()
  Named forward() const;                // every quantity by name, and what the lessons make of it
  // The gradient of the loss by every quantity of forward(), each by its equation.
  Named backward(const Named& values) const;
  // The same number by number, as the four-point central difference of the loss.
  Array differences(const std::string& name, const Array& value) const;

 private:
  Tensor mixed(int64_t head, const Named& projected, const AtEach& at) const;  // (n, head_width)
  void head_backward(const std::string& head, const Named& values, Named& d) const;
  void norm_backward(const Named& values, Named& d) const;

  Named leaves_;
  Mask hidden_;  // (n, n): 1 above the diagonal
  Ids next_;
};

// softmax's derivatives: d softmax(scores)_i / d scores_j = w_i ([i = j] - w_j).   w (n) -> (n, n)
Tensor softmax_jacobian(const Tensor& weights);

// The gradient by what a layer norm reads is the sum of these, by its xhat (n, d), the standard
// deviation of each row (n, 1) and the gradient by xhat (n, d).
struct NormTerms {
  Tensor direct;       // (n, d): mean and deviation held fixed
  Tensor of_mean;      // (n, 1): through the mean of the row
  Tensor of_variance;  // (n, d): through its deviation
};
NormTerms norm_terms(const Tensor& xhat, const Tensor& deviation, const Tensor& dxhat);

}  // namespace heed::tour
