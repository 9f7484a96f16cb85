#include "tools/extras/tour/backward/small_gpt.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "autograd/ops/concat.h"
#include "autograd/ops/cross_entropy.h"
#include "autograd/ops/dropout.h"
#include "autograd/ops/layer_norm.h"
#include "autograd/ops/masked_fill.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/sum.h"
#include "autograd/ops/tril.h"
#include "layers/linear.h"
#include "tools/extras/tour/steps.h"
#include "train/check/gradients/slopes.h"

namespace heed::tour {

namespace {

constexpr double p_drop = 0.5, norm_eps = 1e-5;

// a @ b^T and a^T @ b
Tensor times_transposed(const Tensor& a, const Tensor& b) {
  return matmul(a, b, Trans::no, Trans::yes);
}
Tensor transposed_times(const Tensor& a, const Tensor& b) {
  return matmul(a, b, Trans::yes, Trans::no);
}

Tensor part_of_head(const Tensor& all, int64_t head) {  // (n, 4) -> (n, 2)
  return slice(all, 1, head * SmallGpt::head_width, (head + 1) * SmallGpt::head_width);
}

std::string of_head(const char* name, int64_t head) { return text(name, "_", head + 1); }

const real root_of_width = std::sqrt(real{SmallGpt::head_width});

}  // namespace

SmallGpt::SmallGpt(const TourInputs& in) {
  const int64_t words = std::min(in.tokens(), most), width = std::min(in.width(), most);
  const int64_t n = words - 1, wide = heads * head_width;
  leaves_["x"] = slice(slice(in.inputs, 0, 0, n), 1, 0, width).value().clone();
  leaves_["scale"] = ones({width});
  leaves_["shift"] = Array::zeros({width});
  // The stream of PyTorch 2.7 and newer, whose dropout can be compared.
  manual_seed(static_cast<uint64_t>(in.seed), Generators::separate, DropoutStream::mt19937);
  for (const char* name : {"W_query", "W_key", "W_value", "W_out", "W_vocab"}) {
    const bool from_heads = std::string(name) == "W_out", last = std::string(name) == "W_vocab";
    const Linear layer({.d_in = from_heads ? wide : width,
                        .d_out = from_heads ? width
                                 : last     ? words
                                            : wide,
                        .bias = false});
    leaves_[name] = static_cast<const Tensor&>(layer.weight).value().clone();
  }
  const Tensor kept = dropout(ones({heads, n, n}), p_drop, /*training=*/true);
  for (int64_t h = 0; h < heads; ++h) leaves_[of_head("kept", h)] = row(kept, h);
  hidden_ = nonzero(triu(ones({n, n}), 1).value());
  std::vector<int32_t> next(static_cast<size_t>(n));
  std::iota(next.begin(), next.end(), 1);
  next_ = Ids::from({n}, next);
}

Tensor SmallGpt::mixed(int64_t head, const Named& projected, const AtEach& at) const {
  const auto seen = [&](const char* name, const Tensor& x) { return at(of_head(name, head), x); };
  const auto own = [&](const char* name) {  // (n, 2)
    return seen(name, part_of_head(projected.at(name), head));
  };
  const Tensor scores = seen("scores", times_transposed(own("queries"), own("keys")));  // (n, n)
  const Tensor masked = seen("masked", masked_fill(scores / root_of_width, hidden_,
                                                   -std::numeric_limits<real>::infinity()));
  const Tensor weights = seen("weights", softmax(masked));
  const Tensor dropped = seen("dropped", weights * leaves_.at(of_head("kept", head)));
  return seen("mixed", matmul(dropped, own("values")));
}

Tensor SmallGpt::loss(const AtEach& at) const {
  const auto leaf = [&](const char* name) { return at(name, leaves_.at(name)); };
  const Tensor x = leaf("x");  // (n, d)
  const Tensor normed = at("normed", layer_norm(x, leaf("scale"), leaf("shift"), norm_eps));
  const auto project = [&](const char* name, const char* weight) {
    return std::pair{name, at(name, times_transposed(normed, leaf(weight)))};  // (n, 4)
  };
  const Named projected{project("queries", "W_query"), project("keys", "W_key"),
                        project("values", "W_value")};
  const Tensor W_out = leaf("W_out");  // (d, 4)
  Tensor z = x;
  for (int64_t h = 0; h < heads; ++h) {
    const Tensor ours = at(of_head("W_out", h), part_of_head(W_out, h));  // (d, 2)
    z = z + at(of_head("vote", h), times_transposed(mixed(h, projected, at), ours));
  }
  const Tensor logits = at("logits", times_transposed(at("z", z), leaf("W_vocab")));  // (n, T)
  return at("loss", cross_entropy(logits, next_));
}

Named SmallGpt::forward() const {
  Named values = leaves_;
  const Tensor loss_of_all = loss([&](const std::string& name, const Tensor& x) {
    values[name] = x.value().clone();
    return x;
  });
  const Tensor& logits = values.at("logits");
  values["probabilities"] = softmax(logits);
  Array wanted = Array::zeros(logits.shape());
  for (int64_t t = 0; t < next_.size(); ++t) {
    wanted.mutable_data()[t * logits.dim(1) + next_.data()[t]] = 1;
  }
  values["wanted"] = wanted;
  const Tensor& x = values.at("x");
  const Tensor centred = x - mean(x, -1, true);
  values["deviation"] = sqrt(mean(centred * centred, -1, true) + static_cast<real>(norm_eps));
  values["xhat"] = centred / values.at("deviation");
  return values;
}

Named SmallGpt::backward(const Named& v) const {
  const real n = static_cast<real>(next_.size());
  Named d;
  d["logits"] = (v.at("probabilities") - v.at("wanted")) / n;
  d["z"] = matmul(d["logits"], v.at("W_vocab"));
  d["W_vocab"] = transposed_times(d["logits"], v.at("z"));
  for (const std::string h : {"_1", "_2"}) head_backward(h, v, d);
  d["normed"] = Array::zeros(v.at("normed").shape());
  for (const auto& [name, weight] : {std::pair{"queries", "W_query"},  //
                                     {"keys", "W_key"},
                                     {"values", "W_value"}}) {
    d[name] = concat({d[text(name, "_1")], d[text(name, "_2")]}, 1);
    d[weight] = transposed_times(d[name], v.at("normed"));
    d["normed"] = d["normed"] + matmul(d[name], v.at(weight));
  }
  norm_backward(v, d);
  return d;
}

void SmallGpt::head_backward(const std::string& h, const Named& v, Named& d) const {
  d["vote" + h] = d["z"];
  d["mixed" + h] = matmul(d["vote" + h], v.at("W_out" + h));
  d["W_out" + h] = transposed_times(d["vote" + h], v.at("mixed" + h));
  d["dropped" + h] = times_transposed(d["mixed" + h], v.at("values" + h));
  d["values" + h] = transposed_times(v.at("dropped" + h), d["mixed" + h]);
  d["weights" + h] = d["dropped" + h] * v.at("kept" + h);
  const Tensor &weights = v.at("weights" + h), &dweights = d["weights" + h];
  d["masked" + h] = weights * (dweights - sum(weights * dweights, -1, /*keepdim=*/true));
  d["scores" + h] = masked_fill(d["masked" + h], hidden_, 0) / root_of_width;
  d["queries" + h] = matmul(d["scores" + h], v.at("keys" + h));
  d["keys" + h] = transposed_times(d["scores" + h], v.at("queries" + h));
}

void SmallGpt::norm_backward(const Named& v, Named& d) const {
  d["scale"] = sum(d["normed"] * v.at("xhat"), 0);
  d["shift"] = sum(d["normed"], 0);
  const NormTerms terms = norm_terms(v.at("xhat"), v.at("deviation"), d["normed"] * v.at("scale"));
  d["direct"] = terms.direct;
  d["of_mean"] = terms.of_mean;
  d["of_variance"] = terms.of_variance;
  d["x"] = d["z"] + terms.direct + terms.of_mean + terms.of_variance;
}

Array SmallGpt::differences(const std::string& name, const Array& value) const {
  const NoGrad off;
  Array slopes = Array::uninitialised(value.shape());
  for (int64_t i = 0; i < value.size(); ++i) {
    slopes.mutable_data()[i] = static_cast<real>(central_difference(
        [&](double by) { return loss(moved_by(name, i, by)).item(); }, step_of_differences));
  }
  return slopes;
}

Tensor softmax_jacobian(const Tensor& weights) {
  const int64_t n = weights.dim(0);
  Array diagonal = Array::zeros({n, n});
  for (int64_t i = 0; i < n; ++i) diagonal.mutable_data()[i * n + i] = weights.value().data()[i];
  return Tensor(diagonal) - matmul(reshape(weights, {n, 1}), reshape(weights, {1, n}));
}

NormTerms norm_terms(const Tensor& xhat, const Tensor& deviation, const Tensor& dxhat) {
  return {dxhat / deviation, -mean(dxhat, -1, true) / deviation,
          -xhat * mean(dxhat * xhat, -1, true) / deviation};
}

}  // namespace heed::tour
