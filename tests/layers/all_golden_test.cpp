// Every layer and option against PyTorch: tests/golden/layers, by tools/reference/layer_golden.py.
#include <map>
#include <set>

#include "layers/module/registry.h"
#include "tests/support/layer_cases.h"
#include "tests/support/source_tree.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("layers: values and gradients are PyTorch's, fused and composed") {
  int64_t compared = 0, of_extras = 0;
  const std::vector<std::string> names = golden_names();
  for (const std::string& name : names) {
    const bool built = is_built(name);
    compared += built ? check_golden(name) : 0;
    of_extras += built ? 0 : 1;
  }
  CHECK(names.size() == 158);
  const bool recurrent = layout::has_extra("recurrent"), tuning = layout::has_extra("fine_tuning"),
             alternatives = layout::has_extra("alternatives"),
             translation = layout::has_extra("sequence_models"),
             encoders = layout::has_extra("sequence_models"),
             classes = layout::has_extra("sequence_models");
  CHECK(compared ==
        2 * (805 + (recurrent ? 357 : 0) + (tuning ? 128 : 0) + (alternatives ? 303 : 0) +
             (translation ? 267 : 0) + (encoders ? 193 : 0) + (classes ? 118 : 0)));
  CHECK(of_extras == (recurrent ? 0 : 33) + (tuning ? 0 : 4) + (alternatives ? 0 : 14) +
                         (translation ? 0 : 9) + (encoders ? 0 : 9) + (classes ? 0 : 5));
}

TEST_CASE("layers: every built-in layer has golden values") {
  std::set<std::string> covered;
  for (const std::string& name : golden_names()) {
    for (const std::string& type : golden_types(name)) covered.insert(type);
  }
  const std::vector<std::string> built_in{"bahdanau",
                                          "causal_attention",
                                          "classifier",
                                          "conv1d",
                                          "cross_attention",
                                          "decoder_block",
                                          "dropout",
                                          "embedding",
                                          "encoder",
                                          "encoder_decoder",
                                          "feed_forward",
                                          "gated_delta_net",
                                          "gated_feed_forward",
                                          "gelu",
                                          "gelu_tanh",
                                          "global_attention",
                                          "gpt",
                                          "gpt_classifier",
                                          "gru",
                                          "latent_attention",
                                          "layer_norm",
                                          "linear",
                                          "linear_attention",
                                          "lstm",
                                          "mixture_of_experts",
                                          "multi_head_attention",
                                          "multi_head_attention_wrapper",
                                          "patch_embedding",
                                          "positional",
                                          "relu",
                                          "relu2",
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
  const std::map<std::string, std::string> extras{{"classifier", "classes"},
                                                  {"gpt_classifier", "fine_tuning"},
                                                  {"bahdanau", "recurrent"},
                                                  {"encoder", "encoders"},
                                                  {"patch_embedding", "encoders"},
                                                  {"conv1d", "recurrent"},
                                                  {"gated_delta_net", "alternatives"},
                                                  {"global_attention", "recurrent"},
                                                  {"gru", "recurrent"},
                                                  {"latent_attention", "alternatives"},
                                                  {"linear_attention", "recurrent"},
                                                  {"lstm", "recurrent"},
                                                  {"mixture_of_experts", "alternatives"},
                                                  {"rnn", "recurrent"},
                                                  {"rnn_encoder_decoder", "recurrent"},
                                                  {"rwkv_time_mixing", "recurrent"},
                                                  {"cross_attention", "translation"},
                                                  {"decoder_block", "translation"},
                                                  {"encoder_decoder", "translation"}};
  for (const std::string& type : built_in) {
    CAPTURE(type);
    CHECK(covered.count(type) == 1);
    const auto extra = extras.find(type);
    if (extra == extras.end() || layout::has_extra(extra->second)) {
      CHECK(layer_registry().types().find(type) != nullptr);
    }
  }
  CHECK(covered.size() == built_in.size());
}
