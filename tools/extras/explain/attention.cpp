#include "tools/extras/explain/attention.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "autograd/ops/concat.h"
#include "autograd/ops/linear.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/permute.h"
#include "autograd/ops/rotary.h"
#include "autograd/ops/scaled_dot_product_attention.h"
#include "autograd/ops/slice.h"
#include "autograd/ops/stack.h"
#include "layers/config/describe.h"
#include "layers/config/read.h"
#include "layers/module/registry.h"
#include "layers/rope_scaling.h"

namespace heed::explain {

namespace {

// The layers that project for a layer of several heads: itself, or its heads.
std::vector<const Module*> projecting(const Module& layer) {
  std::vector<const Module*> heads;
  for (const auto& [name, child] : layer.children()) {
    if (name.starts_with("heads.")) {
      heads.push_back(child.get());
    }
  }
  return heads.empty() ? std::vector<const Module*>{&layer} : heads;
}

// True if a field makes other weights than the steps here show, were they as good as equal.
bool has_other_weights(const LayerChoice& choice) {
  return field_or<std::optional<int64_t>>(choice, "window", {}) ||
         field_or<std::optional<double>>(choice, "soft_cap", {}) ||
         field_or(choice, "alibi", false) ||
         field_or<std::string>(choice, "qk_norm", "none") != "none" ||
         field_or<std::string>(choice, "attention_weights", "softmax") != "softmax";
}

Tensor joined(const std::vector<Tensor>& parts, int axis) {
  return parts.empty() ? Tensor() : parts.size() == 1 ? parts[0] : concat(parts, axis);
}

// Columns [h d, (h + 1) d) of x (T, H d).
Tensor columns(const Tensor& x, int64_t h, int64_t width) {
  return slice(x, 1, h * width, (h + 1) * width);
}

}  // namespace

struct AttentionWalk {
  // How a layer turns queries and keys by their positions.
  struct Rotation {
    double base, fraction;
    RopeScaling scaling;

    // The elements of a head that turn.
    int64_t turned(int64_t width) const {
      return static_cast<int64_t>(fraction * static_cast<double>(width));
    }
    // By how much each pair of them turns from one position to the next.
    std::vector<double> angles(int64_t width) const;
  };
  // A projection of all heads: (T, H d).
  struct Projection {
    std::string title, id, x;
    Array value;
    Tensor weight = {}, bias = {};  // no weight: the value is x itself
  };
  struct Projected {
    Projection queries, keys, values;
  };

  static std::optional<Rotation> rotation_of(const LayerChoice& choice);
  std::string walk();
  // The layer as one step.
  std::string opaque(const Array& weights);
  std::optional<Projected> projected() const;
  Projection projection(const char* title, const std::string& name, const std::string& x) const;
  Projected packed(const Tensor& weight) const;
  // As the layer turns it by its positions; unchanged if it does not.
  Array turned(const Array& projected) const;
  // Scores (H, T, S) that give the weights; no array if these do not.
  Array scores_of(const Array& queries, const Array& keys, const Array& weights);
  // Returns the id of what is compared with others.
  std::string add_turned(const Projection& of, const Array& value);
  std::string add_weights(const std::string& queries, const std::string& keys, const Array& scores,
                          const Array& weights);
  std::string add_mix(const std::string& weights, const Projection& values);

  Walk& walk_;
  const Module& layer_;
  const LayerChoice& choice_;
  const std::string path_, x_;
  const std::string read_;  // what keys and values are made of: x or the context
  const bool causal_;
  const std::optional<Rotation> rotation_;
  int64_t heads_ = 0, kv_heads_ = 0, width_ = 0;
  real scale_ = 1;
};

// The Linear layers `name` of the heads side by side, or the matrices of self_attention_v1.
AttentionWalk::Projection AttentionWalk::projection(const char* title, const std::string& name,
                                                    const std::string& x) const {
  std::vector<Tensor> weights, biases, values;
  for (const Module* head : projecting(layer_)) {
    const Module* const linear = child_of(*head, name);
    if (linear != nullptr && layer_registry().name_of(*linear) == "linear") {
      weights.push_back(parameter_of(*linear, "weight"));
      values.emplace_back(walk_.recorder_.output(*linear));
      if (const Tensor bias = parameter_of(*linear, "bias")) {
        biases.push_back(bias);
      }
    } else if (const Tensor matrix = parameter_of(*head, name)) {
      weights.push_back(transpose(matrix, 0, 1));
      values.push_back(matmul(walk_.recorder_.input(*head), matrix));
    }
  }
  const Tensor value = joined(values, 1);
  return {title,
          path_ + "." + name,
          x,
          value ? value.value() : Array(),
          joined(weights, 0),
          joined(biases, 0)};
}

AttentionWalk::Projected AttentionWalk::packed(const Tensor& weight) const {
  const Tensor x(walk_.recorder_.input(layer_)), bias = parameter_of(layer_, "in_proj_bias");
  const int64_t width = weight.dim(0) / 3;
  const Tensor qkv = linear(x, weight, bias);
  const auto part = [&](const char* title, const char* name, int64_t i) {
    const auto third = [&](const Tensor& of, int axis) {
      return slice(of, axis, i * width, (i + 1) * width);
    };
    return Projection{title,
                      path_ + "." + name,
                      x_,
                      third(qkv, 1).value(),
                      third(weight, 0),
                      bias ? third(bias, 0) : Tensor()};
  };
  return {part("Queries", "W_query", 0), part("Keys", "W_key", 1), part("Values", "W_value", 2)};
}

std::optional<AttentionWalk::Projected> AttentionWalk::projected() const {
  if (layer_.parameter_count() == 0 && read_ == x_) {
    const Projection itself{"", x_, x_, walk_.recorder_.input(layer_)};
    return Projected{itself, itself, itself};
  }
  if (const Tensor weight = parameter_of(layer_, "in_proj_weight")) {
    return packed(weight);
  }
  Projected of{projection("Queries", "W_query", x_), projection("Keys", "W_key", read_),
               projection("Values", "W_value", read_)};
  const bool all = of.queries.value && of.keys.value && of.values.value;
  return all ? std::optional(std::move(of)) : std::nullopt;
}

std::vector<double> AttentionWalk::Rotation::angles(int64_t width) const {
  std::vector<double> all;
  for (int64_t i = 0; i < turned(width); i += 2) {
    const double power = static_cast<double>(i) / static_cast<double>(turned(width));
    all.push_back(scaling(std::pow(base, -power)));
  }
  return all;
}

std::optional<AttentionWalk::Rotation> AttentionWalk::rotation_of(const LayerChoice& choice) {
  const auto* const base = choice.find<double>("rope_base");
  if (!field_or(choice, "rope", false) || base == nullptr) {
    return {};
  }
  const ConfigNode fields = write_struct(choice.config());
  return Rotation{*base, field_or<double>(choice, "rotary_fraction", 1),
                  read_fields<RopeScaling>(fields.get("rope_scaling"))};
}

Array AttentionWalk::turned(const Array& projected) const {
  if (!rotation_) {
    return projected;
  }
  const Array table = rotary_table(projected.dim(0), rotation_->turned(width_), rotation_->base,
                                   rotation_->scaling);
  return rotary(projected, table, 0, width_).value();
}

Array AttentionWalk::scores_of(const Array& queries, const Array& keys, const Array& weights) {
  if (queries.dim(0) != weights.dim(1) || keys.dim(0) != weights.dim(2) ||
      has_other_weights(choice_)) {
    return {};
  }
  const double usual =
      layer_.parameter_count() == 0 ? 1 : 1 / std::sqrt(static_cast<double>(width_));
  scale_ = static_cast<real>(field_or<std::optional<double>>(choice_, "scale", {}).value_or(usual));
  std::vector<Tensor> scores;
  for (int64_t h = 0; h < heads_; ++h) {
    scores.push_back(matmul(columns(queries, h, width_),
                            columns(keys, h / (heads_ / kv_heads_), width_), Trans::no,
                            Trans::yes));
  }
  Array ours;
  const AttentionOptions options{.num_heads = heads_,
                                 .num_kv_heads = kv_heads_,
                                 .causal = causal_,
                                 .scale = scale_,
                                 .weights_out = &ours};
  const Tensor q = with_batch("explain", queries, queries.dim(1)),
               k = with_batch("explain", keys, keys.dim(1));
  (void)scaled_dot_product_attention(q, k, k, options);
  const bool same = std::equal(ours.data(), ours.data() + ours.size(), weights.data(),
                               [](real a, real b) { return std::abs(a - b) < 1e-4F; });
  return same ? stack(scores).value() : Array();  // (H, T, S)
}

std::string AttentionWalk::add_turned(const Projection& of, const Array& value) {
  return !rotation_
             ? of.id
             : walk_.add({.id = of.id + ".rotated",
                          .kind = "rotated",
                          .title = of.title + ", rotated",
                          .of = {of.id},
                          .more = {{"width", width_}, {"angles", rotation_->angles(width_)}}},
                         value);
}

std::string AttentionWalk::add_weights(const std::string& queries, const std::string& keys,
                                       const Array& scores, const Array& weights) {
  const auto step = [&](const char* id, const char* kind, const char* title,
                        std::vector<std::string> of) {
    return Step{.id = path_ + "." + id,
                .kind = kind,
                .title = title,
                .of = std::move(of),
                .more = {{"heads", heads_},
                         {"kv_heads", kv_heads_},
                         {"width", width_},
                         {"columns", walk_.rows_.at(keys)}}};
  };
  std::string last =
      walk_.add(step("attn_scores", "scores", "Attention scores", {queries, keys}), scores);
  Step scaled = step("scaled", "scaled", "Scaled", {last});
  scaled.more.emplace_back("scale", static_cast<double>(scale_));
  last = walk_.add(std::move(scaled));
  if (causal_) {
    last = walk_.add(step("masked", "masked", "Masked", {last}));
  }
  return walk_.add(step("attn_weights", "softmax", "Attention weights", {last}), weights);
}

std::string AttentionWalk::add_mix(const std::string& weights, const Projection& values) {
  const Module* const out_proj = child_of(layer_, "out_proj");
  const Array mixed =
      out_proj != nullptr ? walk_.recorder_.input(*out_proj) : walk_.recorder_.output(layer_);
  const int64_t width = mixed.dim(1) / heads_;
  std::string last = walk_.add(
      {.id = path_ + ".context_vec",
       .kind = "mix",
       .title = "Context vectors",
       .of = {weights, values.id},
       .more = {{"heads", heads_}, {"kv_heads", values.value.dim(1) / width}, {"width", width}}},
      mixed);
  if (heads_ > 1) {
    last = walk_.add(
        {.id = path_ + ".concat", .kind = "concat", .title = "Heads side by side", .of = {last}});
  }
  return out_proj != nullptr ? walk_.layer(*out_proj, last, "Output projection") : last;
}

std::string AttentionWalk::opaque(const Array& weights) {
  std::vector<std::string> of{x_};
  if (read_ != x_) {
    of.push_back(read_);
  }
  if (weights) {
    of = {walk_.add({.id = path_ + ".attn_weights",
                     .kind = "given",
                     .title = "Attention weights",
                     .of = of,
                     .more = {{"heads", weights.dim(0)}, {"columns", walk_.rows_.at(read_)}}},
                    weights)};
  }
  return walk_.add({.id = path_, .kind = "given", .title = "Output of the layer", .of = of},
                   walk_.recorder_.output(layer_));
}

std::string AttentionWalk::walk() {
  const Array weights = walk_.recorder_.weights(layer_);  // (H, T, S)
  const std::optional<Projected> of = weights ? projected() : std::nullopt;
  if (!of || of->values.value.dim(1) != of->keys.value.dim(1)) {
    return opaque(weights);
  }
  const int64_t q_width = of->queries.value.dim(1), kv_width = of->keys.value.dim(1);
  heads_ = weights.dim(0);
  width_ = q_width / heads_;
  kv_heads_ = width_ > 0 ? kv_width / width_ : 0;
  if (kv_heads_ == 0 || heads_ % kv_heads_ != 0 || heads_ * width_ != q_width ||
      kv_heads_ * width_ != kv_width) {
    return opaque(weights);
  }
  const Array queries = turned(of->queries.value), keys = turned(of->keys.value);
  const Array scores = scores_of(queries, keys, weights);
  if (!scores) {
    return opaque(weights);
  }
  for (const Projection* each : {&of->queries, &of->keys, &of->values}) {
    if (each->weight) {
      walk_.product(each->id, each->title, each->x, each->weight, each->bias, each->value);
    }
  }
  const std::string q = add_turned(of->queries, queries), k = add_turned(of->keys, keys);
  return add_mix(add_weights(q, k, scores, weights), of->values);
}

std::string attention_steps(Walk& walk, const Module& layer, const LayerChoice& choice,
                            const std::string& x, const std::string& context) {
  return AttentionWalk{walk,
                       layer,
                       choice,
                       layer.path(),
                       x,
                       context.empty() ? x : context,
                       layer.signature().causal && context.empty(),
                       AttentionWalk::rotation_of(choice)}
      .walk();
}

}  // namespace heed::explain
