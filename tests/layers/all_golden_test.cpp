// Every layer and option against PyTorch: tests/golden/layers, by tools/reference/layer_golden.py.
#include <set>

#include "layers/module/registry.h"
#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("layers: values and gradients are PyTorch's, fused and composed") {
  int64_t compared = 0;
  const std::vector<std::string> names = golden_names();
  for (const std::string& name : names) compared += check_golden(name);
  CHECK(names.size() == 91);
  CHECK(compared == 2 * 1080);
}

TEST_CASE("layers: every built-in layer has golden values") {
  std::set<std::string> covered;
  for (const std::string& name : golden_names()) {
    for (const std::string& type : golden_types(name)) covered.insert(type);
  }
  const std::vector<std::string> built_in{"causal_attention",
                                          "classifier",
                                          "cross_attention",
                                          "decoder_block",
                                          "dropout",
                                          "embedding",
                                          "encoder_decoder",
                                          "feed_forward",
                                          "gated_feed_forward",
                                          "gelu",
                                          "gelu_tanh",
                                          "global_attention",
                                          "gpt",
                                          "gru",
                                          "layer_norm",
                                          "linear",
                                          "linear_attention",
                                          "multi_head_attention",
                                          "multi_head_attention_wrapper",
                                          "positional",
                                          "relu",
                                          "rms_norm",
                                          "rnn",
                                          "rnn_encoder_decoder",
                                          "rwkv_time_mixing",
                                          "self_attention_v1",
                                          "self_attention_v2",
                                          "sequential",
                                          "silu",
                                          "simple_attention",
                                          "transformer_block"};
  for (const std::string& type : built_in) {
    CAPTURE(type);
    CHECK(covered.count(type) == 1);
    CHECK(layer_registry().types().find(type) != nullptr);
  }
  CHECK(covered.size() == built_in.size());
}
