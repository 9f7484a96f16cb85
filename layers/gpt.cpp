#include "layers/gpt.h"

#include "layers/module/init.h"

namespace heed {

void GptBodyConfig::size_fields(Fields& f) {
  vocab_size_field(f);
  block_fields(f);
  parallel_residual_field(f);
  num_layers_field(f, 1).example(2);
}

void GptBodyConfig::attention_fields(Fields& f) {
  f.optional("num_kv_heads", num_kv_heads, at_least(1),
             "heads of keys and values, each for as many of the queries", "all")
      .also_try({1})
      .also_known_as({"num_key_value_heads", "n_kv_groups", "n_kv_heads"});
  f.optional("head_dim", head_dim, at_least(1), "width of a head; auto: d_model / num_heads",
             "auto")
      .shows()
      .also_try({3});
  f.optional("rope_base", rope_base, above(0), "of rope: the slowest turn is about 1 / rope_base")
      .also_known_as({"rope_theta", "rotary_emb_base"});
  f.optional("rotary_fraction", rotary_fraction, in_range(0, 1, Bound::open),
             "of rope: the part of each head that turns")
      .also_known_as({"rotary_pct", "partial_rotary_factor"});
  attention_field(f, [this](Defaults& d) {
    d.set("num_kv_heads", num_kv_heads).set("head_dim", head_dim).set("rope", position == "rope");
    if (position == "rope") d.set("rope_base", rope_base).set("rotary_fraction", rotary_fraction);
  });
}

namespace {

void require_option(ConfigErrors& errors, const ConfigNode& at, const char* field,
                    const char* option, bool has_it, const LayerChoice& attention) {
  if (!has_it) {
    errors.add_field(at, field, "expected an attention that takes ", option,
                     ", such as multi_head_attention, got ", attention.type());
  }
}

// A field of the model that its attention needs to have, too, with the same value.
template <class T, class Shown>
void require_same(ConfigErrors& errors, const ConfigNode& at, const char* field, const T& value,
                  const LayerChoice& attention, const Shown& shown) {
  const T* own = value_in_any(attention, field, value);
  require_option(errors, at, field, field, own != nullptr, attention);
  if (own != nullptr && *own != value) {
    errors.add_field(at, field, shown(value), " is not attention.", field, " ", shown(*own),
                     "; give it once");
  }
}

}  // namespace

void GptBodyConfig::check(ConfigErrors& errors, const ConfigNode& at) const {
  TransformerBody::Config::check(errors, at);
  if (position == "rope") {
    const bool* rope = value_in_any(attention, "rope", true);
    require_option(errors, at, "position", "rope", rope != nullptr, attention);
    if (rope != nullptr && !*rope) {
      errors.add_field(at, "position", "rope, but attention.rope is false: no token would have a ",
                       "position; leave attention.rope out");
    }
  }
  const auto of_rope = [&](const char* field, double value, double usual) {
    if (value != usual && position != "rope") {
      errors.add_field(at, field, value, " has no effect with position ", position,
                       "; write position: rope, or leave ", field, " out");
    } else if (value != usual) {
      require_same(errors, at, field, value, attention, [](double x) { return x; });
    }
  };
  of_rope("rope_base", rope_base, 10000);
  of_rope("rotary_fraction", rotary_fraction, 1);
  using Count = std::optional<int64_t>;
  const auto of_heads = [&](const char* field, const Count& value, const char* usual) {
    const auto shown = [usual](const Count& x) { return x ? text(*x) : usual; };
    if (value) require_same(errors, at, field, value, attention, shown);
  };
  of_heads("num_kv_heads", num_kv_heads, "all");
  of_heads("head_dim", head_dim, "auto");
  const bool* const alibi = value_in_any(attention, "alibi", true);
  if (alibi != nullptr && *alibi && (position == "learned" || position == "sinusoidal")) {
    errors.add_field(at, "position", position, ", but attention.alibi takes its place; write none");
  }
}

void Gpt::Config::fields(Fields& f) {
  size_fields(f);
  f.optional("tie_embeddings", tie_embeddings, "use the token embedding as the output layer too")
      .shows()
      .also_known_as({"tie_word_embeddings", "weight_tying", "tie_weights"});
  position_field(f, {"learned", "sinusoidal", "rope", "none"});
  f.choice("init", init, {"torch", "gpt2"},
           "torch: the modules' own; gpt2: N(0, 0.02), less for what ends in a shortcut")
      .shows()
      .also_known_as({"initializer_range", "init_std"}, "gpt2 (0.02)");
  attention_fields(f);
}

Gpt::Gpt(const Config& c)
    : TransformerBody(checked(c)),
      config(c),
      out_head(this, "out_head",
               Linear::Config{.d_in = c.d_model, .d_out = c.vocab_size, .bias = false}) {
  if (c.tie_embeddings) {
    out_head->weight.tie((*tok_emb)->weight);
  }
  if (c.init == "gpt2") {
    initialise_as_gpt2();
  }
}

namespace {

// Children first, as torch.nn.Module.apply does. A tied matrix is drawn twice, as in PyTorch.
void draw_children_first(Module& module) {
  for (const auto& [name, child] : module.children()) draw_children_first(*child);
  module.draw_as_gpt2();
}

// The last matrices of a layer, or else those of the layers in it, such as experts.
void draw_last_matrices(const Module& layer, double std) {
  const std::vector<Tensor> own = layer.last_matrices();
  for (const Tensor& matrix : own) init::redraw(matrix, std);
  for (const auto& [name, child] : layer.children()) {
    if (own.empty()) draw_last_matrices(*child, std);
  }
}

}  // namespace

// Draws in nanoGPT's order: first everything, then once more the last matrices of each residual
// branch, with standard deviation 0.02 / sqrt(branches). The smaller numbers keep the sum of the
// branches from growing with depth (Radford et al. 2019, section 2.3).
void Gpt::initialise_as_gpt2() {
  draw_children_first(*this);
  const int64_t branches = (config.has_feed_forward() ? 2 : 1) * config.num_layers;
  const double residual = 0.02 / std::sqrt(static_cast<double>(branches));
  draw_last_matrices(*this, residual);
}

Tensor Gpt::forward(const Input& in) { return out_head(states("gpt", in)); }  // (B, T, vocab_size)

}  // namespace heed
