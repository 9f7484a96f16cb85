#include "layers/block_config.h"

#include <algorithm>

#include "autograd/array/shape.h"
#include "layers/layer_norm.h"
#include "layers/rms_norm.h"

namespace heed {

BlockConfig BlockConfig::block(int64_t i) const {
  BlockConfig one = *this;
  one.attention = attention.all()[static_cast<size_t>(i) % (1 + attention.others.size())];
  return one;
}

void BlockConfig::fields(Fields& f) {
  block_fields(f);
  parallel_residual_field(f);
  attention_field(f);
}

FieldInfo& BlockConfig::attention_field(Fields& f, Fill also) {
  return f.layer("attention", attention, "any layer (B, T, d_model) -> (B, T, d_model)",
                 [this, also = std::move(also)](Defaults& d) {
                   fill_attention(d, context_length);
                   if (also) also(d);
                 });
}

// "; possible are 1, 2, 4, 8": the smallest numbers of heads that a width can have.
static std::string divisors_of(int64_t width) {
  std::string list;
  for (int64_t heads = 1; heads <= std::min<int64_t>(width, 128); ++heads) {
    list += width % heads == 0 ? (heads > 1 ? ", " : "") + std::to_string(heads) : "";
  }
  return "; possible are " + list;
}

void BlockConfig::fill_attention(Defaults& d, const int64_t& longest) const {
  const int64_t* own_heads = d.own_value<int64_t>("num_heads");
  const int64_t heads = own_heads != nullptr ? *own_heads : num_heads;
  d.set("d_in", d_model).set("d_out", d_model).set("d_model", d_model);
  d.set("d_head", heads > 0 ? d_model / heads : 0);
  d.set("context_length", longest).set("num_heads", num_heads).set("norm_eps", norm_eps);
  d.set("dropout", dropout).set("qkv_bias", qkv_bias).set("out_bias", bias);
}

void BlockConfig::fill_feed_forward(Defaults& d) const {
  d.set("d_in", d_model).set("d_out", d_model).set("d_model", d_model);
  const int64_t* own = d.own_value<int64_t>("hidden_multiplier");
  const int64_t multiplier = own != nullptr ? *own : hidden_multiplier;
  d.set("hidden_multiplier", hidden_multiplier);
  d.set("ff_width", ff_width.value_or(saturated_product(d_model, multiplier)));
  d.set("context_length", context_length).set("dropout", dropout);
  d.set("activation", activation).set("bias", bias);
}

// The heads of a block's attention, which `own` is the config of.
static void check_width(const BlockConfig& c, const LayerChoice& attention, ConfigErrors& errors,
                        const ConfigNode& at, const ConfigNode& own) {
  const auto must_divide = [&](const ConfigNode& map, int64_t heads) {
    errors.add_field(map, "num_heads", "must divide d_model: d_model is ", c.d_model,
                     ", num_heads is ", heads, divisors_of(c.d_model));
  };
  const auto* head_dim = attention.find<std::optional<int64_t>>("head_dim");
  if (c.d_model % c.num_heads != 0 && !(head_dim != nullptr && *head_dim)) {
    must_divide(at, c.num_heads);
  }
  // Heads side by side, which share the width.
  const auto* heads = attention.find<int64_t>("num_heads");
  const auto* width = attention.find<int64_t>("d_out");
  if (own.has("num_heads") && !own.has("d_out") && heads != nullptr && width != nullptr &&
      *width < c.d_model && c.d_model % *heads != 0) {
    must_divide(own, *heads);
  }
}

void BlockConfig::check(ConfigErrors& errors, const ConfigNode& at) const {
  const ConfigNode& given = at.get("attention");
  const std::vector<LayerChoice> attentions = attention.all();
  for (size_t i = 0; i < attentions.size(); ++i) {
    check_width(*this, attentions[i], errors, at,
                given.is_list() ? given.at(static_cast<int64_t>(i)) : given);
  }
  const std::string with_it = text(
      "with feed_forward ", has_feed_forward() ? feed_forward.type() : "none", "; leave one out");
  const auto without_effect = [&](const char* field, bool changed, bool taken) {
    errors.has_no_effect(at, field, changed && !taken, with_it);
  };
  without_effect("parallel_residual", parallel_residual, has_feed_forward());
  const auto* own_activation = feed_forward.find<std::string>("activation");
  const bool changed = activation != BlockConfig{}.activation;
  const bool sized = feed_forward.find<int64_t>("ff_width") != nullptr ||
                     feed_forward.find<std::optional<int64_t>>("ff_width") != nullptr;
  without_effect("activation", changed, own_activation != nullptr);
  without_effect("hidden_multiplier", hidden_multiplier != BlockConfig{}.hidden_multiplier,
                 sized || feed_forward.find<int64_t>("hidden_multiplier") != nullptr);
  without_effect("ff_width", ff_width.has_value(), sized);
  if (changed && own_activation != nullptr && *own_activation != activation) {
    errors.add_field(at, "activation", activation, " is not feed_forward.activation ",
                     *own_activation, "; give it once");
  }
  if (ff_width && hidden_multiplier != BlockConfig{}.hidden_multiplier) {
    errors.add_field(at, "hidden_multiplier", hidden_multiplier, " has no effect with ff_width ",
                     *ff_width, "; leave one out");
  }
}

void BlockConfig::check_heads(ConfigErrors& errors, const ConfigNode& at) const {
  const auto* heads = value_in_any(attention, "num_heads", num_heads);
  if (heads != nullptr && num_heads > 1 && *heads != num_heads) {
    errors.add_field(at, "num_heads", num_heads, " is not attention.num_heads ", *heads,
                     "; give the number of heads once");
  }
}

std::unique_ptr<Module> make_norm(const BlockConfig& c) {
  if (c.norm == "rms_norm") {
    return std::make_unique<RmsNorm>(RmsNorm::Config{.d_model = c.d_model, .eps = c.norm_eps});
  }
  return std::make_unique<LayerNorm>(
      LayerNorm::Config{.d_model = c.d_model, .eps = c.norm_eps, .bias = c.bias});
}

}  // namespace heed
