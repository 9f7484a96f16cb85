// heed inspect without --attention, as a user runs it.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "layers/module/registry.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;
using Json = nlohmann::json;

namespace {

const char* const gpt_config =
    "model: {type: gpt, vocab_size: 11, context_length: 8, d_model: 12, num_heads: 3, "
    "num_layers: 3}\n";

}  // namespace

TEST_CASE("heed inspect: tree, shapes and parameters of a GPT") {
  const TempDir folder;
  const std::string config = config_of(folder, "gpt", gpt_config);
  const ProgramResult result = run_heed({"inspect", config, "--json", "--batch", "2"});
  REQUIRE_MESSAGE(result.exit_code == 0, result.err);
  const Json model = Json::parse(result.out);
  const auto layer = make_layer("gpt", ConfigNode::map({{"vocab_size", 11},
                                                        {"context_length", 8},
                                                        {"d_model", 12},
                                                        {"num_heads", 3},
                                                        {"num_layers", 3}}));
  CHECK(model["parameters"] == layer->parameter_count());
  CHECK(model["input"] == "ids (2, 8)");
  CHECK(model["tree"]["output"] == Json{2, 8, 11});
  CHECK(model["tree"]["children"].size() == layer->children().size());
  const Json& block = model["tree"]["children"][3];
  CHECK(block["name"] == "trf_blocks.0");
  CHECK(block["type"] == "transformer_block");
  CHECK(block["output"] == Json{2, 8, 12});
  // 2 m n k per product: q, k, v, out_proj and feed-forward. Attention itself is extra.
  const int64_t rows = 16, products = 2 * rows * 12 * 12 * 4 + 2 * rows * 12 * 48 * 2;
  CHECK(block["flops"] > products);
  CHECK(block["flops"] < 2 * products);
  const int64_t head = 2 * rows * 12 * 11;
  CHECK(model["flops_forward"] == 3 * block["flops"].get<int64_t>() + head);

  const ProgramResult lines = run_heed({"inspect", config});
  CHECK(contains("\n" + lines.out, "\nmodel "));
  CHECK(contains(lines.out, "\n  ... trf_blocks.2"));
  CHECK(lines.out.find("weight 12 x 12") != std::string::npos);
}

TEST_CASE("heed inspect: a model of hundreds of gigabytes, a layer, tied weights, mistakes") {
  const TempDir folder;
  const std::string config = config_of(folder, "gpt", gpt_config);
  const ProgramResult huge = run_heed({"inspect", config, "--json", "--set", "model.d_model=24000",
                                       "--set", "model.num_layers=12"});
  REQUIRE_MESSAGE(huge.exit_code == 0, huge.err);
  CHECK(Json::parse(huge.out)["parameters"] > 80'000'000'000);

  // Single buffers of several terabytes.
  const Json wide =
      Json::parse(run_heed({"inspect", config, "--json", "--set", "model.d_model=402000"}).out);
  const int64_t wide_weights = wide["memory_bytes"]["weights"];
  CHECK(wide_weights >= wide["parameters"].get<int64_t>() * static_cast<int64_t>(sizeof(real)));

  const ProgramResult tied = run_heed({"inspect", config, "--set", "model.tie_embeddings=true"});
  CHECK(tied.out.find("weight 11 x 12 (tied)") != std::string::npos);

  const std::string linear =
      config_of(folder, "linear", "model: {type: linear, d_in: 5, d_out: 2}\n");
  const Json layer = Json::parse(run_heed({"inspect", linear, "--json"}).out);
  CHECK(layer["input"] == "x (1, 1, 5)");
  CHECK(layer["parameters"] == 12);

  const ProgramResult wrong = run_heed({"inspect", config, "--set", "model.d_modle=3"});
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err.find("did you mean d_model?") != std::string::npos);
  CHECK(run_heed({"inspect", (folder / "no.yaml").string()}).exit_code == 1);
  CHECK(contains(run_heed({"inspect", "none", "--batch", "010"}).err, "010; write it without"));
}
