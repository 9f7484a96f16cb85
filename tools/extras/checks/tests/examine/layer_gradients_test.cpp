// Gradients of every registered layer but models: every parameter and x, every option, with and
// without masks.
#include "tools/extras/checks/train/layer_gradients.h"

#include <set>

#include "autograd/random/streams.h"
#include "layers/linear.h"
#include "tests/support/near.h"
#include "tests/support/wrong_backwards.h"
#include "tools/extras/checks/layers/variants.h"
#include "tools/extras/checks/tests/examine/layer_checks.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("layer gradients: every registered layer without attention, every option" *
          doctest::skip(!is_float64)) {
  CHECK(expect_gradients_of_types(false).cases >= 100);
}

TEST_CASE("layer gradients: dropout of the other stream" * doctest::skip(!is_float64)) {
  CheckCounts counts;
  const StreamsState before = streams().state();
  manual_seed(1, Generators::separate, DropoutStream::mt19937);
  for (const char* type : {"dropout", "causal_attention", "multi_head_attention", "gpt"}) {
    ConfigNode options = example_config(layer_registry().types().find(type)->fields());
    options.set("dropout", 0.25);
    expect_all(check_gradients(read_options("layer", type, options)), counts);
  }
  CHECK(streams().dropout_stream() == DropoutStream::mt19937);
  streams().set_state(before);
  MESSAGE("cases: ", counts.cases);
}

TEST_CASE("layer gradients: options are tried both ways and together" *
          doctest::skip(!is_float64)) {
  std::set<std::string> options;
  for (const LayerCheck& check : check_gradients_of_type("multi_head_attention")) {
    options.insert(check.options);
  }
  for (const char* one :
       {"", "dropout: 0.25", "qkv_bias: true", "out_proj: false", "out_bias: false",
        "causal: false", "packed: true", "num_kv_heads: 1", "head_dim: 3", "rope: true"}) {
    CHECK_MESSAGE(options.count(one) == 1, one);
  }
  CHECK(options.size() == 19);
}

TEST_CASE("layer gradients: parameters and streams stay as they were" *
          doctest::skip(!is_float64)) {
  manual_seed(5);
  const StreamsState before = streams().state();
  CHECK(check_gradients(LayerChoice("linear", Linear::Config{.d_in = 2, .d_out = 2})).size() == 3);
  CHECK(streams().state() == before);
}

TEST_CASE("layer gradients: float32 refuses" * doctest::skip(is_float64)) {
  CHECK_THROWS_WITH_AS(check_gradients_of_type("relu"), doctest::Contains("needs float64"), Error);
}

TEST_CASE("layer gradients: a wrong backward is found" * doctest::skip(!is_float64)) {
  const std::vector<LayerCheck> checks = check_gradients("wrong", [] {
    return std::make_unique<FunctionLayer>([](const auto& in) { return half_square(in[0]); });
  });
  CHECK(checks.size() == 3);
  for (const LayerCheck& check : checks) {
    CHECK(!check.passed);
    CHECK(check.message.find("x of shape") != std::string::npos);
  }
}

namespace {

bool all_pass(const std::vector<LayerCheck>& checks) {
  return std::all_of(checks.begin(), checks.end(), [](const LayerCheck& c) { return c.passed; });
}

}  // namespace

TEST_CASE("layer gradients: every wrong backward of the table is found" *
          doctest::skip(!is_float64)) {
  for (const BackwardMistake& c : wrong_backwards()) {
    CAPTURE(c.name);
    const auto check = [](const Differentiable& f) {
      return check_gradients("x", [&] { return std::make_unique<FunctionLayer>(f); },
                             {.width = 64});
    };
    CHECK(!all_pass(check(c.wrong)));
    CHECK(all_pass(check(c.right)));
  }
}
