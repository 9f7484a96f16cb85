#include "tools/extras/checks/layers/variants.h"

#include <optional>

#include "layers/config/describe.h"
#include "layers/module/registry.h"
#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

struct Heads {
  int64_t d_in = 0, num_heads = 0;
  double dropout = 0;
  bool packed = false, bias = true;
  std::string norm = "layer_norm";
  std::optional<int64_t> window = 20;
  void fields(Fields& f) {
    f.required("d_in", d_in, at_least(1), "width of x");
    f.required("num_heads", num_heads, at_least(1), "number of heads").example(2);
    f.optional("dropout", dropout, probability, "chance to drop a weight").also_try({0.5});
    f.optional("packed", packed, "one matrix for queries, keys and values");
    f.optional("bias", bias, "bias of the projections");
    f.choice("norm", norm, {"layer_norm", "rms_norm"}, "which norm");
    f.optional("window", window, at_least(1), "tokens that it looks back", "all");
  }
};

}  // namespace

TEST_CASE("variants: the example, then each option at each of its other values") {
  std::string configs;
  for (const ConfigNode& config : option_variants(list_fields<Heads>())) {
    for (const ConfigNode& value : config.children()) {
      configs += value.key() + "=" + value.text() + " ";
    }
    configs += "\n";
  }
  CHECK(configs ==
        "d_in=4 num_heads=2 \n"
        "d_in=4 num_heads=2 dropout=0.5 \n"
        "d_in=4 num_heads=2 packed=true \n"
        "d_in=4 num_heads=2 bias=false \n"
        "d_in=4 num_heads=2 norm=rms_norm \n"
        "d_in=4 num_heads=2 window=all \n");
}

TEST_CASE("variants: every layer is made from its own example, and every option of it") {
  int64_t made = 0, ran = 0;
  for (const std::string& type : layer_registry().types().names()) {
    // Types that config_test.cpp adds; no layers belong to them.
    if (type == "attention" || type == "everything" || type == "plain") continue;
    CAPTURE(type);
    const std::vector<FieldInfo> fields = layer_registry().types().find(type)->fields();
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
