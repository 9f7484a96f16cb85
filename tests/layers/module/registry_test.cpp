#include "layers/module/registry.h"

#include "layers/linear.h"
#include "layers/multi_head_attention.h"
#include "tests/support/layer_cases.h"

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
  CHECK(message_of<ConfigError>([] { make_layer("liner"); }) ==
        "unknown layer \"liner\", did you mean linear?");
  CHECK(message_of<ConfigError>([] { make_layer("zzzzzzzz"); }) == "unknown layer \"zzzzzzzz\"");
  CHECK(message_of<ConfigError>([] {
          make_layer("linear", ConfigNode::map({{"d_in", 4}, {"d_ot", 3}}));
        }) ==
        "d_out: missing, expected a whole number of at least 1 (width of y)\n"
        "d_ot: unknown key, did you mean d_out?");
}

TEST_CASE("registry: a name is taken once") {
  Registry<Module> registry("layer of the registry's test");
  registry.add<Linear>("linear");
  CHECK(registry.types().names() == std::vector<std::string>{"linear"});
  CHECK_THROWS_AS(registry.add<MultiHeadAttention>("linear"), ConfigError);
}

TEST_CASE("registry: every layer and every option of it says what it is") {
  int64_t fields = 0;
  for (const std::string& type : layer_registry().types().names()) {
    // Types that config_test.cpp adds; no layers belong to them.
    if (type == "attention" || type == "everything" || type == "plain") continue;
    CAPTURE(type);
    const ConfigType& known = layer_registry().types().get(type);
    CHECK(known.help != "");
    for (const FieldInfo& field : known.fields()) {
      CHECK(field.help != "");
      ++fields;
    }
  }
  CHECK(fields >= 55);
}
