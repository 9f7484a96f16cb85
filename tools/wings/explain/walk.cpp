#include "tools/wings/explain/walk.h"

#include "autograd/ops/relu.h"
#include "autograd/ops/silu.h"
#include "layers/layer_norm.h"
#include "layers/rms_norm.h"
#include "tools/wings/explain/attention.h"

namespace heed::explain {

namespace {

std::string number_of(const std::string& path) { return path.substr(path.rfind('.') + 1); }

Array activated(const Array& hidden, const std::string& activation) {
  const Tensor x(hidden);
  if (activation == "relu") {
    return relu(x).value();
  }
  if (activation == "silu") {
    return silu(x).value();
  }
  return gelu(x, activation == "gelu" ? Gelu::erf : Gelu::tanh).value();
}

}  // namespace

std::string Walk::add(Step step, const Array& value) {
  if (step.rows.empty()) {
    step.rows = rows_.at(step.of.at(0));
  }
  rows_[step.id] = step.rows;
  step.part = part_;
  return page_.add(std::move(step), value);
}

std::string Walk::embedding(const Embedding& layer, const Ids& ids, const std::string& rows) {
  return add({.id = layer.path(),
              .kind = "embedding",
              .title = "Token embeddings",
              .rows = rows,
              .more = {{"ids", std::vector<int32_t>(ids.data(), ids.data() + ids.size())},
                       {"vocabulary", layer.config.vocab_size}}},
             recorder_.output(layer));
}

std::string Walk::sum(const std::string& id, const std::string& title, const std::string& a,
                      const std::string& b) {
  return add({.id = id, .kind = "sum", .title = title, .of = {a, b}});
}

std::string Walk::positions(Positional& layer, const std::string& x) {
  // What is left of x + p where x is 0.
  const Array p = layer(Tensor(Array::zeros(recorder_.input(layer).shape()))).value();
  const std::string id = add({.id = layer.path() + ".weight",
                              .kind = "positions",
                              .title = "Position embeddings",
                              .rows = rows_.at(x),
                              .more = {{"sinusoidal", layer.config.position == "sinusoidal"}}},
                             p);
  return sum(layer.path(), "Token and position", x, id);
}

std::string Walk::norm(const Module& layer, const std::string& x, const std::string& title) {
  Step step{.id = layer.path(), .kind = "norm", .title = title, .of = {x}};
  for (const Parameter* parameter : layer.own_parameters()) {
    const std::string name = layer.path() + "." + parameter->name();
    page_.vector(name, Tensor(*parameter).value());
    step.more.emplace_back(parameter->name(), name);
  }
  if (const auto* rms = dynamic_cast<const RmsNorm*>(&layer)) {
    step.kind = "rms_norm";
    step.more.emplace_back("eps", rms->config.eps);
  } else if (const auto* usual = dynamic_cast<const LayerNorm*>(&layer)) {
    step.more.emplace_back("eps", usual->config.eps);
  }
  return add(std::move(step), recorder_.output(layer));
}

std::string Walk::product(const std::string& id, const std::string& title, const std::string& x,
                          const Array& weight, const Array& bias, const Array& value) {
  Step step{.id = id, .kind = "linear", .title = title, .of = {x}, .more = {{"weight", id}}};
  page_.matrix(id, weight);
  if (bias) {
    step.more.emplace_back("bias", id + ".bias");
    page_.vector(id + ".bias", bias);
  }
  return add(std::move(step), value);
}

std::string Walk::linear(const Linear& layer, const std::string& x, const std::string& title) {
  return product(layer.path(), title, x, Tensor(layer.weight).value(),
                 layer.bias ? Tensor(layer.bias).value() : Array(), recorder_.output(layer));
}

std::string Walk::attention(const Module& layer, const std::string& x, const std::string& context) {
  return AttentionWalk(*this, layer, x, context).walk();
}

std::string Walk::feed_forward(const Module& layer, const std::string& x) {
  if (const auto* usual = dynamic_cast<const FeedForward*>(&layer)) {
    return feed_forward(*usual, x);
  }
  if (const auto* gated = dynamic_cast<const GatedFeedForward*>(&layer)) {
    return feed_forward(*gated, x);
  }
  return add({.id = layer.path(), .kind = "given", .title = "Output of the layer", .of = {x}},
             recorder_.output(layer));
}

std::string Walk::activation(const std::string& id, const std::string& of,
                             const std::string& function, const Array& value) {
  return add({.id = id,
              .kind = "activation",
              .title = "Activation",
              .of = {of},
              .more = {{"function", function}}},
             value);
}

std::string Walk::feed_forward(const FeedForward& layer, const std::string& x) {
  const Linear &first = *layer.first, &last = *layer.last;
  const Tensor in(recorder_.input(layer));  // (T, d_model)
  const auto bias_of = [](const Linear& of) { return of.bias ? Tensor(of.bias) : Tensor(); };
  const auto value_of = [](const Tensor& of) { return of ? of.value() : Array(); };
  const Array hidden = heed::linear(in, first.weight, bias_of(first)).value();
  const std::string h = product(first.path(), "Hidden layer", x, Tensor(first.weight).value(),
                                value_of(bias_of(first)), hidden);
  const std::string a = activation(layer.path() + ".layers.1", h, layer.config.activation,
                                   activated(hidden, layer.config.activation));
  return product(last.path(), "Back to the width of the model", a, Tensor(last.weight).value(),
                 value_of(bias_of(last)), recorder_.output(layer));
}

std::string Walk::feed_forward(const GatedFeedForward& layer, const std::string& x) {
  const std::string gate = linear(*layer.gate_proj, x, "Gate");
  const std::string open = activation(layer.path() + ".gate", gate, "silu",
                                      activated(recorder_.output(*layer.gate_proj), "silu"));
  const std::string up = linear(*layer.up_proj, x, "Hidden layer");
  const std::string hidden =
      add({.id = layer.path() + ".gated", .kind = "times", .title = "Gated", .of = {open, up}});
  return linear(*layer.down_proj, hidden, "Back to the width of the model");
}

std::string Walk::block(const TransformerBlock& block, const std::string& x) {
  page_.begin_section(block.path(), "Block " + number_of(block.path()));
  part("Attention");
  const std::string attended = attention(*block.att, norm(*block.norm1, x, "Norm"));
  std::string y = sum(block.path() + ".shortcut1", "Shortcut", x, attended);
  if (block.ff) {
    part("Feed-forward");
    const std::string fed = feed_forward(**block.ff, norm(**block.norm2, y, "Norm"));
    y = sum(block.path() + ".shortcut2", "Shortcut", y, fed);
  }
  part("");
  return y;
}

std::string Walk::block(const DecoderBlock& block, const std::string& x,
                        const std::string& context) {
  page_.begin_section(block.path(), "Decoder block " + number_of(block.path()));
  part("Attention");
  const std::string attended = attention(*block.att, norm(*block.norm1, x, "Norm"));
  std::string y = sum(block.path() + ".shortcut1", "Shortcut", x, attended);
  part("Cross-attention");
  const std::string crossed = attention(*block.cross_att, norm(*block.norm2, y, "Norm"), context);
  y = sum(block.path() + ".shortcut2", "Shortcut", y, crossed);
  if (block.ff) {
    part("Feed-forward");
    const std::string fed = feed_forward(**block.ff, norm(**block.norm3, y, "Norm"));
    y = sum(block.path() + ".shortcut3", "Shortcut", y, fed);
  }
  part("");
  return y;
}

std::string Walk::pooled(const std::string& id, const std::string& x, const std::string& pool,
                         const Array& value) {
  return add({.id = id,
              .kind = pool,
              .title = pool == "mean" ? "Mean over the tokens" : "The first token",
              .of = {x},
              .rows = pool},
             value);
}

}  // namespace heed::explain
