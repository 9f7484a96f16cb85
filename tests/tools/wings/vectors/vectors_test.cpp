// Every command on a run whose data are vectors, as a user types them.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"
#include "train/files/safetensors.h"
#include "train/run/metrics.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

const std::string six_vectors = (house::root() / "configs/wings/vectors/six_vectors.yaml").string();

// A config of this data and model, with x (8, 3, 4) and the tensor y.
struct Vectors {
  explicit Vectors(TensorView y) {
    write_safetensors(folder / "v.safetensors", {view("x", values({8, 3, 4})), std::move(y)});
  }
  ProgramResult heed(const std::string& command, const std::string& model,
                     const std::vector<std::string>& more = {}) const {
    write_text(folder / "v.yaml", "data: {type: vectors, path: v.safetensors}\nmodel: " + model +
                                      "\ntrain: {steps: 3, batch_size: 3}\n");
    std::vector<std::string> arguments{command, (folder / "v.yaml").string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_heed(arguments);
  }
  // The message about the model, line 2.
  std::string wrong_model(const std::string& model) const {
    const ProgramResult result = heed("validate", model);
    CHECK(result.exit_code == 2);
    const size_t at = result.err.find("v.yaml:2:");
    return at == std::string::npos ? result.err : result.err.substr(at);
  }
  TempDir folder;
};

}  // namespace

TEST_CASE("vectors: a run is saved, resumed to the same bits, evaluated and reported") {
  const TempDir folder;
  const std::string whole = (folder / "whole").string(), parts = (folder / "parts").string();
  const ProgramResult trained = succeeded(
      {"train", six_vectors, "--out", whole, "--set", "train.steps=40", "--set", "eval.every=20"});
  CHECK(contains(trained.err,
                 "data       six_vectors.safetensors: x (1, 6, 3), y (1, 6, 2); "
                 "nothing is held out\nstep       12 targets, "));
  CHECK(contains(trained.err,
                 "W_query.weight, before training\ntensor([[ 0.3161,  0.4568,  "
                 "0.5118],\n        [-0.1683, -0.3379, -0.0918]]"));
  CHECK(contains(trained.err, "W_query.weight, after step 40\ntensor([["));
  CHECK(contains(read_text(folder / "whole/log.txt"), "W_query.weight, before training\n"));

  succeeded(
      {"train", six_vectors, "--out", parts, "--set", "train.steps=20", "--set", "eval.every=20"});
  const ProgramResult resumed = succeeded({"train", "--resume", parts, "--set", "train.steps=40"});
  CHECK(contains(resumed.err, "W_query.weight, after step 20\n"));
  CHECK(weights_in(parts, "step-000040") == weights_in(whole, "step-000040"));

  const auto evaluated = nlohmann::json::parse(succeeded({"eval", whole, "--json"}).out);
  CHECK(evaluated.at("val_loss") == evaluated.at("train_loss"));
  CHECK(evaluated.at("val_loss").get<double>() ==
        doctest::Approx(*read_metrics(folder / "whole/metrics.csv").back().val_loss));
  CHECK(evaluated.at("tokens") == 12);
  CHECK(evaluated.at("accuracy").is_null());
  CHECK(!contains(succeeded({"eval", whole}).out, "accuracy"));
  if (has_command("inspect")) {
    CHECK(contains(succeeded({"inspect", whole, "--attention"}).out, "layer 0, the model: rows"));
    CHECK(contains(succeeded({"inspect", whole}).out, "input       x (1, 6, 3)"));
  }
  const ProgramResult written = run_heed({"generate", whole, "--prompt", "x"});
  CHECK(written.exit_code == 2);
  CHECK(contains(written.err, "was trained on vectors, which has no text to continue"));
}

TEST_CASE("vectors: heed data shows the numbers") {
  if (!has_command("data")) return;
  const auto data = nlohmann::json::parse(succeeded({"data", six_vectors, "--json"}).out);
  CHECK(data.at("d_in") == 3);
  CHECK(data.at("examples").at(0).at("x").at(5).size() == 3);
  CHECK(data.at("examples").at(0).at("y").at(1).at(0).get<double>() == doctest::Approx(0.55));
  CHECK(contains(succeeded({"data", six_vectors}).out,
                 "  answer  tensor([[0.4300, 0.1500],\n                  [0.5500, 0.8700],"));
}

TEST_CASE("vectors: a bad file is the only mistake, whatever the model would take from it") {
  const Vectors wrong(view("y", values({5})));
  for (const char* model :
       {"{type: multi_head_attention, num_heads: 3}",
        "{type: gpt, num_heads: 7, num_layers: 1, position: rope, d_model: 28}"}) {
    const ProgramResult result = wrong.heed("validate", model);
    CHECK(result.exit_code == 1);
    CHECK_MESSAGE(std::count(result.err.begin(), result.err.end(), '\n') == 1, result.err);
    CHECK(contains(result.err, "v.safetensors: expected y (8, 3, k)"));
  }
}

TEST_CASE("vectors: what the data decides of a model, and models that do not fit") {
  const Vectors numbers(view("y", values({8, 3, 2})));
  CHECK(numbers.heed("validate", "{type: self_attention_v2}").exit_code == 0);
  CHECK(numbers.heed("validate", "{type: causal_attention}").exit_code == 0);
  CHECK(numbers
            .heed("validate",
                  "{type: multi_head_attention_wrapper, num_heads: 2, d_out: 1, "
                  "context_length: 3}")
            .exit_code == 0);  // 2 * 1 wide
  CHECK(contains(numbers.wrong_model("{type: linear, d_out: 5}"),
                 "model.d_out: expected 2, as the data has it, or nothing; got 5"));
  CHECK(contains(numbers.wrong_model("{type: sequential, layers: [{type: linear, d_in: 4, d_out: "
                                     "5}]}"),
                 "model: loss: expected an output of the shape of the targets, (1, 3, 2), got (1, "
                 "3, 5)"));
  CHECK(contains(numbers.wrong_model("{type: gpt, vocab_size: 5, d_model: 4, num_heads: 1, "
                                     "num_layers: 1}"),
                 "model: reads token ids (B, T), but the data gives vectors of shape (1, 3, 4)"));
  const ProgramResult other =
      run_heed({"validate", six_vectors, "--set", "data={type: sort, length: 6, symbols: 7}",
                "--set", "model.d_in=3", "--set", "model.d_out=7"});
  CHECK(other.exit_code == 2);
  CHECK(contains(other.err,
                 "model: reads vectors x (B, T, d), but the data gives ids of shape "
                 "(1, 6)"));
}

TEST_CASE("vectors: classes are judged") {
  Ids classes = Ids::zeros({8, 3});
  for (int64_t i = 0; i < classes.size(); ++i) {
    classes.mutable_data()[i] = static_cast<int32_t>(i % 3);
  }
  const Vectors labelled(view("y", classes));
  const std::string out = (labelled.folder / "run").string();
  CHECK(labelled.heed("train", "{type: self_attention_v2}", {"--out", out}).exit_code == 0);
  const auto evaluated = nlohmann::json::parse(succeeded({"eval", out, "--json"}).out);
  CHECK(evaluated.at("tokens") == 24);
  CHECK(evaluated.at("accuracy").is_number());
  CHECK(contains(labelled.wrong_model("{type: sequential, layers: [{type: linear, d_in: 4, d_out: "
                                      "5}]}"),
                 "gives numbers of shape (1, 3, 5) for a batch of vectors of shape (1, 3, 4), but "
                 "the data has 3 different classes"));
}

TEST_CASE("vectors: a wrong file and a wrong name are found before training") {
  const Vectors numbers(view("y", values({7, 3, 2})));
  const ProgramResult shapes = numbers.heed("train", "{type: self_attention_v2}");
  CHECK(shapes.exit_code == 1);
  CHECK(contains(shapes.err, "v.yaml:1:29: data.path: "));
  CHECK(contains(shapes.err, "(8, 3, 4); got "));
  const Vectors good(view("y", values({8, 3, 2})));
  const ProgramResult shown =
      good.heed("train", "{type: self_attention_v2}", {"--set", "train.show=[W_qery]"});
  CHECK(shown.exit_code == 2);
  CHECK(contains(shown.err,
                 "train.show.0: no parameter or layer is called W_qery, did you mean W_query?"));
}
