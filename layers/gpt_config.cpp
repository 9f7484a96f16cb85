#include "layers/gpt_config.h"

namespace heed {

void TransformerBodyConfig::vocab_size_field(Fields& f) {
  f.required("vocab_size", vocab_size, at_least(1),
             "number of tokens; needed where no data gives it")
      .example(7);
}

FieldInfo& TransformerBodyConfig::num_layers_field(Fields& f, int fewest) {
  return f.required("num_layers", num_layers, in_range(fewest, 1000),
                    "number of transformer blocks");
}

void TransformerBodyConfig::position_field(Fields& f, std::vector<std::string> words) {
  f.choice("position", position, std::move(words), "how positions are told apart");
}

void TransformerBodyConfig::attention_field(Fields& f, Fill also) {
  FieldInfo& info = BlockConfig::attention_field(f, std::move(also));
  info.help += "; blocks take those of a list in turn";
  info.or_list = true;
}

void GptBodyConfig::size_fields(Fields& f) {
  vocab_size_field(f);
  block_fields(f);
  parallel_residual_field(f);
  num_layers_field(f, 1).example(2);
}

void GptBodyConfig::attention_fields(Fields& f) {
  f.optional("num_kv_heads", num_kv_heads, at_least(1),
             "heads of keys and values, each for as many of the queries", "all")
      .shows()
      .also_try({1});
  f.optional("head_dim", head_dim, at_least(1), "width of a head; auto: d_model / num_heads",
             "auto")
      .shows()
      .also_try({3});
  f.optional("rope_base", rope_base, above(0), "of rope: the slowest turn is about 1 / rope_base");
  f.optional("rotary_fraction", rotary_fraction, in_range(0, 1, Bound::open),
             "of rope: the part of each head that turns");
  attention_field(f, [this](Defaults& d) {
    d.set("num_kv_heads", num_kv_heads).set("head_dim", head_dim).set("rope", position == "rope");
    if (position == "rope") d.set("rope_base", rope_base).set("rotary_fraction", rotary_fraction);
  });
}

void GptConfig::fields(Fields& f) {
  size_fields(f);
  f.optional("tie_embeddings", tie_embeddings, "use the token embedding as the output layer too")
      .shows();
  position_field(f, {"learned", "sinusoidal", "rope", "none"});
  f.choice("init", init, {"torch", "gpt2"},
           "torch: the modules' own; gpt2: N(0, 0.02), less for what ends in a shortcut")
      .shows();
  attention_fields(f);
}

void TransformerBodyConfig::check(ConfigErrors& errors, const ConfigNode& at) const {
  BlockConfig::check(errors, at);
  check_heads(errors, at);
  if (!attention.others.empty() && std::ssize(attention.others) >= num_layers) {
    errors.add_field(at, "attention", "expected as many as there are blocks, num_layers ",
                     num_layers, ", or fewer, got ", 1 + attention.others.size());
  }
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
  TransformerBodyConfig::check(errors, at);
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

}  // namespace heed
