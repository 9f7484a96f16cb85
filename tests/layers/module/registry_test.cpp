#include "layers/module/registry.h"

#include "layers/linear.h"
#include "layers/multi_head_attention.h"
#include "tests/support/layer_cases.h"
#include "train/check/variants.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("registry: makes a layer by its type and options") {
  const auto layer = make_layer("linear", ConfigNode::map({{"d_in", 4}, {"d_out", 3}}));
  CHECK(parameter_lines(*layer) == "weight (3, 4)\nbias (3,)\n");
  CHECK(layer_registry().name_of(*layer) == "linear");
  const LayerChoice choice = layer_registry().choice_of(*layer);
  CHECK(*choice.find<int64_t>("d_in") == 4);
  CHECK(choice.find<double>("d_in") == nullptr);
  struct Unknown final : Module {
    Tensor forward(const Input& in) override { return in.x; }
  };
  CHECK(layer_registry().name_of(Unknown()) == "");
}

TEST_CASE("registry: refusals name what was meant") {
  CHECK(error_of<ConfigError>([] { make_layer("liner"); }) ==
        "unknown layer \"liner\", did you mean linear?");
  CHECK(error_of<ConfigError>([] { make_layer("zzzzzzzz"); }) == "unknown layer \"zzzzzzzz\"");
  CHECK(error_of<ConfigError>([] {
          make_layer("linear", ConfigNode::map({{"d_in", 4}, {"d_ot", 3}}));
        }) ==
        "d_out: missing, expected a whole number of at least 1 (width of y)\n"
        "d_ot: unknown key, did you mean d_out?");
  CHECK(config_error_of("{type: gpt, vocab_size: 5, context_length: 4, d_model: 4, num_heads: 2, "
                        "num_layers: 1, attention: {type: multihead_attention}}") ==
        "model.yaml:1:113: model.attention.type: unknown layer multihead_attention, did you mean "
        "multi_head_attention?");
  CHECK(config_error_of("{type: sequential, layers: [{type: linear, d_in: 4, d_out: 3}, "
                        "{type: gelo}]}") ==
        "model.yaml:1:78: model.layers.1.type: unknown layer gelo, did you mean gelu?");
}

TEST_CASE("registry: a name is taken once") {
  Registry<Module> registry("layer of the registry's test");
  registry.add<Linear>("linear");
  CHECK(registry.types().names() == std::vector<std::string>{"linear"});
  CHECK_THROWS_AS(registry.add<MultiHeadAttention>("linear"), ConfigError);
}

TEST_CASE("registry: every layer is made from its own example, and every option of it") {
  int64_t made = 0, ran = 0;
  for (const std::string& type : layer_registry().types().names()) {
    // Types that config_test.cpp adds; no layers belong to them.
    if (type == "attention" || type == "everything" || type == "plain") continue;
    CAPTURE(type);
    const std::vector<FieldInfo> fields = layer_registry().types().find(type)->fields();
    CHECK(layer_registry().types().find(type)->help != "");
    for (const FieldInfo& field : fields) CHECK(field.help != "");
    for (const ConfigNode& options : option_variants(fields)) {
      const auto layer = make_layer(type, options);
      const std::string made_type =
          options.get("packed").text() == "true" ? "packed_attention"
          : type == "feed_forward" && options.get("activation").text() == "swiglu"
              ? "gated_feed_forward"
              : type;
      CHECK(layer_registry().name_of(*layer) == made_type);
      ++made;
      const ConfigNode& width = options.has("d_in") ? options.get("d_in") : options.get("d_model");
      const int64_t d = width.is_absent() ? 4 : std::stoll(width.text());
      Input in = layer->signature().ids ? Input(ids({2, 3}, {0, 1, 2, 3, 4, 5}))
                                        : Input(Tensor(values({2, 3, d})));
      if (const int64_t channels = layer->signature().channels; channels > 0) {
        in = Tensor(values({2, channels, 4, layer->signature().width}));
      }
      if (layer->signature().context) {
        const int64_t of_context = options.has("d_context") ? 3 : d;  // also_try({3})
        in.context = Tensor(values({2, 4, of_context}));
        in.source_ids = ids({2, 4}, {0, 1, 2, 3, 4, 0, 1, 2});
        in.ids = in.ids ? ids({2, 2}, {0, 1, 2, 3}) : Ids();
      }
      const Tensor y = (*layer)(in);
      const std::string& classes = options.get("num_classes").text();
      CHECK(y.rank() == (classes.empty() || classes == "0" ? 3 : 2));
      ++ran;
    }
  }
  CHECK(made >= 55);
  CHECK(ran == made);
}
