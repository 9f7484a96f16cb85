#include "tools/extras/explain/walk.h"

#include <algorithm>

#include "autograd/ops/linear.h"
#include "autograd/ops/permute.h"
#include "autograd/ops/reshape.h"
#include "autograd/ops/slice.h"
#include "layers/module/registry.h"
#include "tools/extras/explain/attention.h"

namespace heed::explain {

namespace {

std::string last_name(const std::string& path) { return path.substr(path.rfind('.') + 1); }

bool is_norm(const std::string& type) { return type == "layer_norm" || type == "rms_norm"; }

}  // namespace

const Module* child_of(const Module& layer, const std::string& name) {
  for (const auto& [of, child] : layer.children()) {
    if (of == name) {
      return child.get();
    }
  }
  return nullptr;
}

Tensor parameter_of(const Module& layer, const std::string& name) {
  for (const Parameter* parameter : layer.own_parameters()) {
    if (parameter->name() == name) {
      return *parameter;
    }
  }
  return {};
}

std::string Walk::add(Step step, const Array& value) {
  if (step.rows.empty()) {
    step.rows = rows_.at(step.of.at(0));
  }
  rows_[step.id] = step.rows;
  step.part = part_;
  return page_.add(std::move(step), value);
}

std::vector<size_t> Walk::model(const Module& model) {
  const std::vector<Recorder::Call>& calls = recorder_.calls();
  has_blocks_ = std::any_of(calls.begin(), calls.end(),
                            [](const auto& call) { return !call.layer->branches().empty(); });
  std::string last;  // the step before, and its value
  Array value;
  for (const auto& [layer, x, y] : calls) {
    if (!x) {
      context_ = last;
      if (const Array& read = recorder_.context(); value && read && read.data() != value.data()) {
        context_ = pooled(model, "context", "context", last, read);
      }
      last = begin_sequence(*layer);
    } else if (x.rank() == 4) {
      last = begin_picture(*layer);
    } else {
      if (!value || x.data() != value.data()) {
        last = pooled(model, "pool", "pooled", last, without_batch_axis(x));
      }
      last = y.data() == x.data() ? last : step(*layer, last);  // dropout drops nothing here
    }
    value = y;
  }
  return with_lens_;
}

std::string Walk::begin_sequence(const Module& layer) {
  in_source_ = in_.source_ids && page_.sections().empty();
  in_end_ = false;
  const Ids& ids = in_source_ ? in_.source_ids : in_.ids;
  page_.begin_section(in_source_ ? "source" : "embeddings",
                      in_source_       ? "Encoder: embeddings of the source"
                      : in_.source_ids ? "Decoder: embeddings of what is written"
                                       : "Embeddings");
  with_lens_ = {page_.sections().size() - 1};
  const LayerChoice choice = layer_registry().choice_of(layer);
  return add({.id = layer.path(),
              .kind = "embedding",
              .title = "Token embeddings",
              .rows = in_source_ ? "source" : "ids",
              .more = {{"ids", std::vector<int32_t>(ids.data(), ids.data() + ids.size())},
                       {"vocabulary", field_or<int64_t>(choice, "vocab_size", 0)}}},
             recorder_.output(layer));
}

std::string Walk::begin_picture(const Module& layer) {
  const LayerChoice choice = layer_registry().choice_of(layer);
  const Array vectors = recorder_.output(layer);  // (N, d), the class token first
  page_.picture = shown_picture(in_, vectors.dim(0));
  require<ConfigError>(choice.type() == "patch_embedding" && page_.picture,
                       "heed explain: expected a model that begins with patch_embedding, of ",
                       "pictures of at most 65,536 pixels; heed inspect --attention shows others");
  const auto& [height, width, side, class_token, pixels] = *page_.picture;
  const int64_t channels = in_.x.dim(1), count = height / side * (width / side),
                numbers = channels * side * side;
  const Tensor cut =
      permute(reshape(in_.x, {channels, height / side, side, width / side, side}), {1, 3, 0, 2, 4});
  const Tensor weight = parameter_of(layer, "weight"), whole(vectors);
  page_.begin_section("embeddings", "Patches");
  with_lens_ = {page_.sections().size() - 1};
  const std::string patches = add({.id = layer.path() + ".patches",
                                   .kind = "patches",
                                   .title = "The pixels of each patch",
                                   .rows = "patches"},
                                  reshape(cut, {count, numbers}).value());
  const std::string embedded = product(
      layer.path(), "Patch embeddings", patches, reshape(weight, {weight.dim(0), numbers}),
      parameter_of(layer, "bias"), slice(whole, 0, whole.dim(0) - count, whole.dim(0)).value());
  return !class_token ? embedded
                      : add({.id = layer.path() + ".class_token",
                             .kind = "given",
                             .title = "With the class token in front",
                             .of = {embedded},
                             .rows = "tokens"},
                            vectors);
}

std::string Walk::step(const Module& of, const std::string& x) {
  const LayerChoice choice = layer_registry().choice_of(of);
  if (!of.branches().empty()) {
    return block(of, x);
  }
  if (choice.type() == "positional") {
    return positions(of, choice, x);
  }
  const bool normalises = is_norm(choice.type());
  if ((with_lens_.size() > 1 || (normalises && !has_blocks_)) && !in_end_) {
    page_.begin_section(in_source_ ? of.path() : "end", in_source_ ? "Encoder: final norm"
                                                        : classes_ ? "Logits of the classes"
                                                                   : "Logits");
    in_end_ = true;
  }
  return layer(of, x, normalises ? "Final norm" : in_end_ ? "Logits" : "");
}

std::string Walk::block(const Module& block, const std::string& x) {
  const std::vector<Branch> parts = block.branches();
  page_.begin_section(block.path(), text(in_source_                  ? "Encoder block "
                                         : block.signature().context ? "Decoder block "
                                                                     : "Block ",
                                         last_name(block.path())));
  with_lens_.push_back(page_.sections().size() - 1);
  in_end_ = false;
  std::string y = x, read = x;
  for (const Branch& branch : parts) {
    read = branch.parallel ? read : y;
    const bool cross = branch.layer->signature().context;
    part_ = !branch.attends ? "Feed-forward" : cross ? "Cross-attention" : "Attention";
    const std::string normed = layer(*branch.norm, read, "Norm");
    const std::string added = layer(*branch.layer, normed, "", cross ? context_ : "");
    y = sum(text(block.path(), ".shortcut", &branch - parts.data() + 1), "Shortcut", y, added);
  }
  part_ = "";
  return y;
}

std::string Walk::pooled(const Module& model, const char* field, const std::string& id,
                         const std::string& x, const Array& value) {
  const LayerChoice choice = layer_registry().choice_of(model);
  const std::string pool = field_or<std::string>(choice, field, "");
  const bool known = pool == "mean" || pool == "first" || pool == "last";
  require<ConfigError>(known && !x.empty() && value.dim(0) == 1,
                       "heed explain: expected a gpt, an encoder_decoder or a classifier; ",
                       "heed inspect --attention shows the attention of other models");
  return add({.id = id,
              .kind = pool,
              .title = pool == "mean" ? "Mean over the tokens" : text("The ", pool, " token"),
              .of = {x},
              .rows = pool},
             value);
}

std::string Walk::layer(const Module& layer, const std::string& x, const std::string& title,
                        const std::string& context) {
  const LayerChoice choice = layer_registry().choice_of(layer);
  const std::string& type = choice.type();
  return type == "linear"               ? linear(layer, x, title)
         : is_norm(type)                ? norm(layer, choice, x, title)
         : type == "feed_forward"       ? feed_forward(layer, choice, x)
         : type == "gated_feed_forward" ? gated(layer, x)
                                        : attention_steps(*this, layer, choice, x, context);
}

std::string Walk::sum(const std::string& id, const std::string& title, const std::string& a,
                      const std::string& b) {
  return add({.id = id, .kind = "sum", .title = title, .of = {a, b}});
}

std::string Walk::positions(const Module& layer, const LayerChoice& choice, const std::string& x) {
  const Tensor zeros(Array::zeros(recorder_.input(layer).shape()));
  const Tensor table = parameter_of(layer, "weight");
  const Tensor p =
      table ? slice(table, 0, 0, zeros.dim(0)) : (*make_layer(choice))(zeros);  // what is left
  const std::string id =
      add({.id = layer.path() + ".weight",
           .kind = "positions",
           .title = "Position embeddings",
           .rows = rows_.at(x),
           .more = {{"sinusoidal", *choice.find<std::string>("position") == "sinusoidal"}}},
          p.value());
  return sum(layer.path(), "Token and position", x, id);
}

std::string Walk::norm(const Module& layer, const LayerChoice& choice, const std::string& x,
                       const std::string& title) {
  const char* const kind = choice.type() == "rms_norm" ? "rms_norm" : "norm";
  Step step{.id = layer.path(), .kind = kind, .title = title, .of = {x}};
  for (const Parameter* parameter : layer.own_parameters()) {
    const std::string name = layer.path() + "." + parameter->name();
    page_.vector(name, Tensor(*parameter).value());
    step.more.emplace_back(parameter->name(), name);
  }
  step.more.emplace_back("eps", *choice.find<double>("eps"));
  return add(std::move(step), recorder_.output(layer));
}

std::string Walk::product(const std::string& id, const std::string& title, const std::string& x,
                          const Tensor& weight, const Tensor& bias, const Array& value) {
  Step step{.id = id, .kind = "linear", .title = title, .of = {x}, .more = {{"weight", id}}};
  page_.matrix(id, weight.value());
  if (bias) {
    step.more.emplace_back("bias", id + ".bias");
    page_.vector(id + ".bias", bias.value());
  }
  return add(std::move(step), value);
}

std::string Walk::linear(const Module& layer, const std::string& x, const std::string& title) {
  return product(layer.path(), title.empty() ? last_name(layer.path()) : title, x,
                 parameter_of(layer, "weight"), parameter_of(layer, "bias"),
                 recorder_.output(layer));
}

std::string Walk::activation(const std::string& id, const std::string& of,
                             const std::string& function, const Array& hidden) {
  return add({.id = id,
              .kind = "activation",
              .title = "Activation",
              .of = {of},
              .more = {{"function", function}}},
             (*make_layer(function, ConfigNode::map({})))(Tensor(hidden)).value());
}

std::string Walk::feed_forward(const Module& layer, const LayerChoice& choice,
                               const std::string& x) {
  const Module &first = *child_of(layer, "layers.0"), &last = *child_of(layer, "layers.2");
  const Tensor weight = parameter_of(first, "weight"), bias = parameter_of(first, "bias");
  const Array hidden = heed::linear(recorder_.input(layer), weight, bias).value();
  const std::string h = product(first.path(), "Hidden layer", x, weight, bias, hidden);
  const std::string a =
      activation(layer.path() + ".layers.1", h, *choice.find<std::string>("activation"), hidden);
  return product(last.path(), "Back to the width of the model", a, parameter_of(last, "weight"),
                 parameter_of(last, "bias"), recorder_.output(layer));
}

std::string Walk::gated(const Module& layer, const std::string& x) {
  const Module& gate_proj = *child_of(layer, "gate_proj");
  const std::string gate = linear(gate_proj, x, "Gate");
  const std::string open =
      activation(layer.path() + ".gate", gate, "silu", recorder_.output(gate_proj));
  const std::string up = linear(*child_of(layer, "up_proj"), x, "Hidden layer");
  const std::string hidden =
      add({.id = layer.path() + ".gated", .kind = "times", .title = "Gated", .of = {open, up}});
  return linear(*child_of(layer, "down_proj"), hidden, "Back to the width of the model");
}

}  // namespace heed::explain
