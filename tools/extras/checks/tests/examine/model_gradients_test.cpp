// Gradients of blocks and models, as layer_gradients_test.cpp; with each attention of the book.
#include "tools/extras/checks/layers/variants.h"
#include "tools/extras/checks/tests/examine/layer_checks.h"

using namespace heed;
using namespace heed::testing;

namespace {

ConfigNode small_model(const std::string& attention, const std::string& type) {
  ConfigNode options = example_config(layer_registry().types().find(type)->fields());
  options.set("attention", ConfigNode::map({{"type", attention}}));
  return options;
}

const std::vector<std::string> attention_types{"simple_attention",
                                               "self_attention_v1",
                                               "self_attention_v2",
                                               "causal_attention",
                                               "multi_head_attention_wrapper",
                                               "multi_head_attention"};

}  // namespace

TEST_CASE("model gradients: every registered layer with attention, every option" *
          doctest::skip(!is_float64)) {
  CHECK(expect_gradients_of_types(true).cases >= 60);
}

TEST_CASE("model gradients: models with each attention layer" * doctest::skip(!is_float64)) {
  CheckCounts counts;
  for (const std::string& attention : attention_types) {
    CAPTURE(attention);
    for (const char* type : {"transformer_block", "gpt"}) {
      expect_all(check_gradients(read_options("layer", type, small_model(attention, type))),
                 counts);
    }
  }
  MESSAGE("model gradient cases: ", counts.cases);
  CHECK(counts.cases >= 48);
}
