// heed inspect --attention and --graph, as a user runs them.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "autograd/base/error.h"
#include "autograd/base/real.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"
#include "tests/support/training_run.h"
#include "tests/train/wings/translation/configs.h"
#include "tools/wings/inspect/png.h"

using namespace heed;
using namespace heed::testing;
using Json = nlohmann::json;

namespace {

namespace fs = std::filesystem;

int lines_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("heed inspect --attention: maps of a run with the tokens on both axes") {
  const TempDir folder;
  const std::string config = config_of(folder, "copy", copying), run = (folder / "run").string();
  REQUIRE(run_heed({"train", config, "--out", run}).exit_code == 0);
  const ProgramResult shown =
      run_heed({"inspect", run, "--attention", "--prompt", "7 0 11", "--all"});
  REQUIRE_MESSAGE(shown.exit_code == 0, shown.err);
  CHECK(shown.out.starts_with("prompt  7 0 11\n"));
  CHECK(shown.out.find("encoder_blocks.0.att: rows look at columns\n") != std::string::npos);
  CHECK(shown.out.find("decoder_blocks.0.cross_att: rows are written, columns were read\n") !=
        std::string::npos);
  CHECK(lines_of(shown.out, "head 0") == 3);
  CHECK(lines_of(shown.out, "head 1") == 3);
  CHECK(shown.out.find("\x1b[") == std::string::npos);  // no terminal: no colours
  CHECK(shown.out.ends_with("weight 0 [  ..::--==++**##%%@@] 1\n"));
  CHECK(lines_of(shown.out, "\n<start> ") == 1);

  const ProgramResult json =
      run_heed({"inspect", run, "--attention", "--prompt", "7 0 11", "--json"});
  const Json read = Json::parse(json.out);
  CHECK(read["step"] == 2);
  REQUIRE(read["layers"].size() == 3);
  const Json& encoder = read["layers"][0];
  CHECK(encoder["layer"] == "encoder_blocks.0.att");
  CHECK(encoder["keys"] == Json{"7", "0", "11", "<end>"});
  REQUIRE(encoder["weights"].size() == 2);
  REQUIRE(encoder["weights"][1].size() == 4);
  double sum = 0;
  for (const Json& weight : encoder["weights"][1][3]) sum += weight.get<double>();
  CHECK(sum == doctest::Approx(1).epsilon(1e-5));
  CHECK(read["layers"][2]["cross"] == true);

  const ProgramResult unknown = run_heed({"inspect", run, "--attention", "--prompt", "7 0 12"});
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.err.starts_with("heed inspect: --prompt: "));
  CHECK(run_heed({"inspect", run, "--attention", "--set", "seed=1"}).exit_code == 2);
}

TEST_CASE("heed inspect --attention --out: SVG, PNG where heed was built with stb, nothing else") {
  const TempDir folder;
  const std::string config = config_of(folder, "copy", copying);
  const auto written = [&](const std::string& name) {
    return run_heed({"inspect", config, "--attention", "--out", (folder / name).string()});
  };
  CHECK(written("maps.svg").exit_code == 0);
  CHECK(read_text(folder / "maps.svg").starts_with("<svg "));
  const ProgramResult png = written("maps.png");
  CHECK(png.exit_code == (cli::has_png() ? 0 : 2));
  if (cli::has_png()) {
    CHECK(read_text(folder / "maps.png").starts_with("\x89PNG"));
  } else {
    CHECK(contains(png.err, "--out: expected a name that ends in .svg, got "));
    CHECK(contains(png.err, "maps.png; PNG needs Debian's libstb-dev, and heed to be built again"));
  }
  CHECK(contains(written("maps.gif").err, "expected a name that ends in .svg or .png, got "));
}

TEST_CASE("heed inspect --attention: one layer, one head, as numbered on the terminal") {
  const TempDir folder;
  const std::string config = config_of(folder, "copy", copying);
  const auto shown = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"inspect", config, "--attention"});
    return run_heed(more);
  };
  const ProgramResult all = shown({"--all"}), third = shown({"--layer", "2"});
  REQUIRE_MESSAGE(third.exit_code == 0, third.err);
  for (const char* title :
       {"\nlayer 0, encoder_blocks.0.att: ", "\nlayer 1, decoder_blocks.0.att: ",
        "\nlayer 2, decoder_blocks.0.cross_att: "}) {
    CHECK(lines_of(all.out, title) == 1);
    CHECK(lines_of(third.out, title) == (title[7] == '2' ? 1 : 0));
  }
  CHECK(lines_of(third.out, "head ") == 2);
  const ProgramResult second = shown({"--head", "1", "--all"});
  CHECK(lines_of(second.out, "head 1") == 3);
  CHECK(lines_of(second.out, "head 0") == 0);
  const Json of_all = Json::parse(shown({"--json"}).out);
  const Json one = Json::parse(shown({"--layer", "2", "--head", "1", "--json"}).out);
  REQUIRE(one["layers"].size() == 1);
  REQUIRE(one["layers"][0]["weights"].size() == 1);
  CHECK(one["layers"][0]["weights"][0] == of_all["layers"][2]["weights"][1]);

  CHECK(shown({"--layer", "3"}).err == "heed inspect: expected --layer from 0 to 2, got 3\n");
  CHECK(shown({"--layer", "-1"}).exit_code == 2);
  CHECK(shown({"--head", "2"}).err == "heed inspect: expected --head from 0 to 1, got 2\n");
  CHECK(shown({"--head", "-1"}).exit_code == 2);
  CHECK(run_heed({"inspect", config, "--layer", "1"}).exit_code == 2);
  CHECK(run_heed({"inspect", config, "--all"}).exit_code == 2);

  const ProgramResult last = shown({});  // of the decoder: its own attention and the encoder's
  CHECK(contains(last.out, "\nlayers  those of decoder_blocks.0; --all shows all 3, --layer 0"));
  CHECK(lines_of(last.out, "\nlayer ") == 2);
  CHECK(!contains(last.out, "encoder_blocks.0.att"));
  CHECK(!contains(all.out, "--all"));
}

TEST_CASE("heed inspect --attention: before training, and what has none") {
  const TempDir folder;
  const std::string words =
      config_of(folder, "six",
                "data: {type: six_words}\n"
                "model: {type: gpt, d_model: 8, num_heads: 1, num_layers: 1}\n");
  const ProgramResult before =
      run_heed({"inspect", words, "--attention", "--prompt", "Your journey"});
  REQUIRE_MESSAGE(before.exit_code == 0, before.err);
  CHECK(before.out.find("\nYour") != std::string::npos);
  const ProgramResult more =
      run_heed({"inspect", words, "--attention", "--set", "model.num_heads=4"});
  CHECK(lines_of(more.out, "head 3") == 1);

  const std::string bag =
      config_of(folder, "bag",
                "data: {type: negation}\n"
                "model: {type: classifier, d_model: 8, num_layers: 0, position: none}\n");
  const ProgramResult none = run_heed({"inspect", bag, "--attention"});
  CHECK(none.exit_code == 2);
  CHECK(none.err.find("no layer of this model attends") != std::string::npos);
  const ProgramResult scores = run_heed(
      {"inspect", words, "--attention", "--set", "model.attention.attention_weights=none"});
  CHECK(scores.exit_code == 2);
  CHECK(scores.err.find("attention_weights none or sum") != std::string::npos);
  const std::string layer =
      config_of(folder, "layer", "model: {type: linear, d_in: 2, d_out: 2}\n");
  CHECK(run_heed({"inspect", layer, "--attention"}).err.find("needs a data section") !=
        std::string::npos);
  CHECK(run_heed({"inspect", words, "--prompt", "Your"}).exit_code == 2);
  CHECK(run_heed({"inspect", words, "--attention", "--batch", "3"}).exit_code == 2);
}

TEST_CASE("heed inspect --graph: operations of a step in frames of their layers, with shapes") {
  const TempDir folder;
  const std::string config = config_of(folder, "copy", copying);
  const std::string dot = (folder / "out.dot").string();
  const ProgramResult made = run_heed({"inspect", config, "--graph", dot, "--json"});
  REQUIRE_MESSAGE(made.exit_code == 0, made.err);
  CHECK(Json::parse(made.out)["type"] == "encoder_decoder");  // standard output is unchanged
  CHECK(made.err.starts_with(dot + "\n"));
  const std::string graph = read_text(dot);
  CHECK(graph.starts_with("digraph step {\n"));
  CHECK(graph.find("source_ids (4, 6), ids (4, 6)") != std::string::npos);
  CHECK(graph.find("subgraph \"cluster_decoder_blocks.0.cross_att.W_query\" {") !=
        std::string::npos);
  CHECK(graph.find("label=\"decoder_blocks.0\"") != std::string::npos);
  CHECK(graph.find("[label=\"weight\\n(8, 8)\", shape=box") != std::string::npos);
  CHECK(graph.find("[label=\"linear\\n(4, 6, 8)\"]") != std::string::npos);
  CHECK(graph.find("[label=\"cross_entropy\\n()\", penwidth=2]") != std::string::npos);
  CHECK(lines_of(graph, "{") == lines_of(graph, "}"));
  CHECK(lines_of(graph, " -> ") > 40);
  if (made.err.find("out.svg") != std::string::npos) {
    CHECK(read_text(folder / "out.svg").find("cross_att") != std::string::npos);
  }
  // Without data, the graph ends with the output of a layer of any size.
  const std::string layer =
      config_of(folder, "layer", "model: {type: linear, d_in: 700000, d_out: 900000}\n");
  REQUIRE(run_heed({"inspect", layer, "--graph", (folder / "layer").string()}).exit_code == 0);
  const std::string linear = read_text(folder / "layer.dot");
  CHECK(linear.find("[label=\"linear\\n(1, 1, 900000)\", penwidth=2]") != std::string::npos);
  CHECK(run_heed({"inspect", layer, "--graph", (folder / "no/where.dot").string()}).exit_code == 1);
}

TEST_CASE("heed inspect: options that contradict, and a prompt that does not fit, are refused") {
  const TempDir folder;
  const std::string run = (folder / "run").string();
  REQUIRE(run_heed({"train", write_config(folder, small_config), "--out", run}).exit_code == 0);
  const auto refused = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"inspect", run});
    const ProgramResult result = run_heed(words);
    CHECK(result.exit_code == 2);
    return result.err;
  };
  CHECK(refused({"--attention", "--prompt", "Every effort"}) ==
        "heed inspect: --prompt: expected at most 8 tokens, the model's context, got 12\n");
  CHECK(refused({"--attention", "--all", "--layer", "0"}) ==
        "heed inspect: --all and --layer: give one of them\n");
  CHECK(refused({"--batch", "99999999999"}) ==
        "heed inspect: expected --batch of at most 1000000, got 99999999999\n");
}
