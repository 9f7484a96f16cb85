// Training that starts from a Hugging Face folder.
#include <doctest/doctest.h>

#include "tests/support/near.h"
#include "tests/support/training_run.h"
#include "tools/extras/fine_tuning/train/source.h"
#include "train/files/human_readable.h"
#include "train/files/safetensors.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

TEST_CASE("weights: those of a Hugging Face folder, and what no shape shows") {
  const fs::path folder = fs::path(HEED_SOURCE_DIR) / "tests/golden/hugging_face/gpt2";
  std::vector<std::string> warnings;
  const fs::path file = find_weights(folder, warnings);
  CHECK(file == folder / "model.safetensors");
  CHECK(source_fingerprint(file) == fingerprint_file(file));
  const auto choice = [](const std::string& options) {
    const std::string sizes = "vocab_size: 13, context_length: 6, num_layers: 2, ff_width: 5, ";
    const std::string yaml = "{d_model: 6, qkv_bias: true, tie_embeddings: true, " + sizes;
    return read_options("layer", "gpt", parse_config(yaml + options + "}", "model.yaml"));
  };
  const auto model_with = [&](const std::string& options) { return make_layer(choice(options)); };
  const auto model = model_with("num_heads: 3");
  start_from(*model, file, {});
  const Array embedding = SafeTensors(file).array("transformer.wte.weight");
  check_same_bits(model->parameters().front().tensor.value(), embedding);
  CHECK(differences_from(file, choice("num_heads: 3")).empty());
  CHECK(differences_from("", choice("num_heads: 3")).empty());
  const std::string odd =
      "num_heads: 2, norm_eps: 0.5, activation: relu, attention: {type: multi_head_attention, "
      "scale: 3}";
  const auto other = model_with(odd);
  start_from(*other, file, {});
  CHECK(
      differences_from(file, choice(odd)) ==
      std::vector<std::string>{"model.activation is relu, but the weights were made with gelu_tanh",
                               "model.attention.scale is 3, but the weights were made with auto",
                               "model.norm_eps is 0.5, but the weights were made with 1e-05",
                               "model.num_heads is 2, but the weights were made with 3"});

  const auto refused = [&](Module& into, const std::vector<std::string>& ignored) {
    return message_of<ConfigError>([&] { start_from(into, file, ignored); });
  };
  const std::string begin = "these are not the weights of this model: ";
  CHECK(refused(*model_with("num_heads: 3, norm: rms_norm"), {}) ==
        begin + "model.norm: rms_norm, but gpt2 has layer_norm");
  const auto gpt = [](const std::string& options) {
    const std::string sizes = "{d_model: 6, num_heads: 3, num_layers: 2, context_length: 6, ";
    return make_layer(
        "gpt", parse_config(sizes + "ff_width: 5, tie_embeddings: true, " + options, "model.yaml"));
  };
  CHECK(contains(refused(*gpt("vocab_size: 13}"), {}),
                 "transformer.h.1.attn.c_attn.bias, here no parameter: expected zeros, as the "
                 "model has no such bias"));
  const auto wide = gpt("vocab_size: 14, qkv_bias: true}");
  CHECK(refused(*wide, {}) ==
        begin + file.string() +
            ": transformer.wte.weight, here tok_emb.weight: expected shape (14, 6), got (13, 6); "
            "weights_ignore: [\"tok_emb.*\"] lets tensors differ that are meant to");
  CHECK(refused(*wide, {"tok_emb.*"}) == "no error");
  const auto linear = make_layer("linear", parse_config("{d_in: 2, d_out: 2}", "model.yaml"));
  CHECK(refused(*linear, {}) ==
        folder.string() + " holds a gpt2, which only a model of type gpt can take; heed import " +
            shell_word(folder.string()) + " makes a run of it, whose weights others take");
}
