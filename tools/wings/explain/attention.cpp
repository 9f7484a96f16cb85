#include "tools/wings/explain/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/ops/concat.h"
#include "autograd/ops/masked_fill.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/permute.h"
#include "autograd/ops/rotary.h"
#include "autograd/ops/slice.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/split.h"
#include "autograd/ops/stack.h"
#include "layers/packed_attention.h"
#include "layers/simple_attention.h"

namespace heed::explain {

namespace {

const Module* child_of(const Module& layer, const std::string& name) {
  for (const auto& [of, child] : layer.children()) {
    if (of == name) {
      return child;
    }
  }
  return nullptr;
}

const Parameter* parameter_of(const Module& layer, const std::string& name) {
  for (const Parameter* parameter : layer.own_parameters()) {
    if (parameter->name() == name) {
      return parameter;
    }
  }
  return nullptr;
}

// The layers that project for a layer of several heads: itself, or its heads.
std::vector<const Module*> projecting(const Module& layer) {
  std::vector<const Module*> heads;
  for (const auto& [name, child] : layer.children()) {
    if (name.starts_with("heads.")) {
      heads.push_back(child);
    }
  }
  return heads.empty() ? std::vector<const Module*>{&layer} : heads;
}

Array joined(const std::vector<Tensor>& parts, int axis) {
  return parts.empty()       ? Array()
         : parts.size() == 1 ? parts[0].value()
                             : concat(parts, axis).value();
}

// Columns [h d, (h + 1) d) of x (T, H d).
Tensor columns(const Tensor& x, int64_t h, int64_t width) {
  return slice(x, 1, h * width, (h + 1) * width);
}

// Of the layers that may rotate queries and keys.
const MultiHeadAttention::Config* config_of(const Module& layer) {
  if (const auto* usual = dynamic_cast<const MultiHeadAttention*>(&layer)) {
    return &usual->config;
  }
  const auto* packed = dynamic_cast<const PackedAttention*>(&layer);
  return packed != nullptr ? &packed->config : nullptr;
}

// The largest difference between softmax(scale * scores) and the weights.
double distance(const Array& scores, real scale, bool causal, const Array& weights) {
  Tensor scaled = scale * Tensor(scores);  // (H, T, S)
  const int64_t rows = scores.dim(1), keys = scores.dim(2);
  if (causal) {
    Mask hidden = Mask::zeros({rows, keys});
    uint8_t* at = hidden.mutable_data();
    for (int64_t t = 0; t < rows; ++t) {
      std::fill(at + t * keys + std::min(keys, t + 1), at + (t + 1) * keys, uint8_t{1});
    }
    scaled = masked_fill(scaled, hidden, -std::numeric_limits<real>::infinity());
  }
  const Array ours = softmax(scaled).value();
  double most = 0;
  for (int64_t i = 0; i < ours.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(ours.data()[i] - weights.data()[i])));
  }
  return most;
}

}  // namespace

// The Linear layers `name` of the heads side by side, or the matrices of self_attention_v1.
AttentionWalk::Projection AttentionWalk::projection(const char* title, const std::string& name,
                                                    const std::string& x) const {
  std::vector<Tensor> weights, biases, values;
  for (const Module* head : projecting(layer_)) {
    if (const auto* linear = dynamic_cast<const Linear*>(child_of(*head, name))) {
      weights.emplace_back(linear->weight);
      values.emplace_back(walk_.recorder_.output(*linear));
      if (linear->bias) {
        biases.emplace_back(linear->bias);
      }
    } else if (const Parameter* matrix = parameter_of(*head, name)) {
      weights.push_back(transpose(*matrix, 0, 1));
      values.push_back(matmul(walk_.recorder_.input(*head), *matrix));
    }
  }
  Projection of{title, layer_.path() + "." + name, x, joined(values, 1)};
  of.weight = joined(weights, 0);
  of.bias = joined(biases, 0);
  return of;
}

AttentionWalk::Projected AttentionWalk::packed(const Module& layer) const {
  const Tensor x(walk_.recorder_.input(layer));
  const Tensor weight(*parameter_of(layer, "in_proj_weight"));
  const Parameter* const bias = parameter_of(layer, "in_proj_bias");
  const int64_t width = weight.dim(0) / 3;
  const Tensor qkv = linear(x, weight, bias != nullptr && *bias ? Tensor(*bias) : Tensor());
  const auto part = [&](const char* title, const char* name, int64_t i) {
    const auto third = [&](const Tensor& of, int axis) {
      return slice(of, axis, i * width, (i + 1) * width).value();
    };
    Projection of{title, layer_.path() + "." + name, x_, third(qkv, 1)};
    of.weight = third(weight, 0);
    of.bias = bias != nullptr && *bias ? third(*bias, 0) : Array();
    return of;
  };
  return {part("Queries", "W_query", 0), part("Keys", "W_key", 1), part("Values", "W_value", 2)};
}

std::optional<AttentionWalk::Projected> AttentionWalk::projected() const {
  if (dynamic_cast<const SimpleAttention*>(&layer_) != nullptr) {
    const Array x = walk_.recorder_.input(layer_);
    const Projection itself{"", x_, x_, x};
    return Projected{itself, itself, itself};
  }
  if (dynamic_cast<const PackedAttention*>(&layer_) != nullptr) {
    return packed(layer_);
  }
  const std::string& read = context_.empty() ? x_ : context_;
  Projected of{projection("Queries", "W_query", x_), projection("Keys", "W_key", read),
               projection("Values", "W_value", read)};
  const bool all = of.queries.value && of.keys.value && of.values.value;
  return all ? std::optional(std::move(of)) : std::nullopt;
}

std::optional<AttentionWalk::Scores> AttentionWalk::explaining(const Array& queries,
                                                               const Array& keys,
                                                               const Array& weights) {
  const int64_t heads = weights.dim(0), width = queries.dim(1) / heads;
  const bool fits = queries.dim(1) % heads == 0 && width > 0 && keys.dim(1) % width == 0 &&
                    queries.dim(0) == weights.dim(1) && keys.dim(0) == weights.dim(2);
  if (!fits || heads % (keys.dim(1) / width) != 0) {
    return {};
  }
  const int64_t shared = heads / (keys.dim(1) / width);  // query heads for each head of keys
  std::vector<Tensor> scores;
  for (int64_t h = 0; h < heads; ++h) {
    scores.push_back(matmul(columns(queries, h, width), columns(keys, h / shared, width), Trans::no,
                            Trans::yes));
  }
  const Array all = stack(scores).value();  // (H, T, S)
  for (const real scale : {static_cast<real>(1 / std::sqrt(static_cast<double>(width))), real{1}}) {
    for (const bool causal : {true, false}) {
      if (distance(all, scale, causal, weights) < 1e-4) {
        return Scores{all, scale, causal};
      }
    }
  }
  return {};
}

void AttentionWalk::add(const Projection& of) {
  if (of.weight) {
    walk_.product(of.id, of.title, of.x, of.weight, of.bias, of.value);
  }
}

AttentionWalk::Projection AttentionWalk::rotated(Projection of) const {
  const MultiHeadAttention::Config* const config = config_of(layer_);
  if (config != nullptr && config->rope) {
    of.value = rotary(of.value, config->angles(), 0).value();
    of.id += ".rotated";
  }
  return of;
}

void AttentionWalk::add_rotation(const Projection& of, const Projection& rotated) {
  if (rotated.id != of.id) {
    const MultiHeadAttention::Config& config = *config_of(layer_);
    walk_.add({.id = rotated.id,
               .kind = "rotated",
               .title = of.title + ", rotated",
               .of = {of.id},
               .more = {{"width", config.head_width()}, {"base", config.rope_base}}},
              rotated.value);
  }
}

std::string AttentionWalk::add_weights(const Projection& queries, const Projection& keys,
                                       const Scores& scores, const Array& weights) {
  const std::string path = layer_.path();
  const int64_t heads = weights.dim(0), width = queries.value.dim(1) / heads;
  const auto step = [&](const char* id, const char* kind, const char* title,
                        std::vector<std::string> of) {
    return Step{.id = path + "." + id,
                .kind = kind,
                .title = title,
                .of = std::move(of),
                .more = {{"heads", heads},
                         {"kv_heads", keys.value.dim(1) / width},
                         {"width", width},
                         {"columns", walk_.rows_.at(keys.id)}}};
  };
  std::string last = walk_.add(
      step("attn_scores", "scores", "Attention scores", {queries.id, keys.id}), scores.scores);
  Step scaled = step("scaled", "scaled", "Scaled", {last});
  scaled.more.emplace_back("scale", static_cast<double>(scores.scale));
  last = walk_.add(std::move(scaled));
  if (scores.causal) {
    last = walk_.add(step("masked", "masked", "Masked", {last}));
  }
  return walk_.add(step("attn_weights", "softmax", "Attention weights", {last}), weights);
}

std::string AttentionWalk::add_mix(const std::string& weights, const Projection& values,
                                   int64_t heads) {
  const std::string path = layer_.path();
  const auto* out_proj = dynamic_cast<const Linear*>(child_of(layer_, "out_proj"));
  const Array mixed =
      out_proj != nullptr ? walk_.recorder_.input(*out_proj) : walk_.recorder_.output(layer_);
  const int64_t width = mixed.dim(1) / heads;
  std::string last = walk_.add(
      {.id = path + ".context_vec",
       .kind = "mix",
       .title = "Context vectors",
       .of = {weights, values.id},
       .more = {{"heads", heads}, {"kv_heads", values.value.dim(1) / width}, {"width", width}}},
      mixed);
  if (heads > 1) {
    last = walk_.add(
        {.id = path + ".concat", .kind = "concat", .title = "Heads side by side", .of = {last}});
  }
  return out_proj != nullptr ? walk_.linear(*out_proj, last, "Output projection") : last;
}

std::string AttentionWalk::opaque(const Array& weights) {
  const std::string path = layer_.path();
  std::vector<std::string> of{x_};
  if (!context_.empty()) {
    of.push_back(context_);
  }
  if (weights) {
    of = {walk_.add({.id = path + ".attn_weights",
                     .kind = "given",
                     .title = "Attention weights",
                     .of = of,
                     .more = {{"heads", weights.dim(0)},
                              {"columns", walk_.rows_.at(context_.empty() ? x_ : context_)}}},
                    weights)};
  }
  return walk_.add({.id = path, .kind = "given", .title = "Output of the layer", .of = of},
                   walk_.recorder_.output(layer_));
}

std::string AttentionWalk::walk() {
  const Array weights = walk_.recorder_.weights(layer_);  // (H, T, S)
  const std::optional<Projected> of = weights ? projected() : std::nullopt;
  if (!of || of->values.value.dim(1) != of->keys.value.dim(1)) {
    return opaque(weights);
  }
  const Projection queries = rotated(of->queries), keys = rotated(of->keys);
  const std::optional<Scores> scores = explaining(queries.value, keys.value, weights);
  if (!scores) {
    return opaque(weights);
  }
  add(of->queries);
  add(of->keys);
  add(of->values);
  add_rotation(of->queries, queries);
  add_rotation(of->keys, keys);
  return add_mix(add_weights(queries, keys, *scores, weights), of->values, weights.dim(0));
}

}  // namespace heed::explain
