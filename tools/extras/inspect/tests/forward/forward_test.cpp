// heed forward: files in, files out. tools/reference/forward_cases.py and the golden files of the
// layers compare the numbers with PyTorch's. What it refuses: tests/transcripts/forward.txt.
#include "autograd/random/streams.h"
#include "layers/module/registry.h"
#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"
#include "tests/support/training_run.h"
#include "train/checkpoint/state_dict.h"

using namespace heed;
using namespace heed::testing;

namespace {

namespace fs = std::filesystem;

// A config, an input file, and the command that uses them.
class ForwardCase {
 public:
  explicit ForwardCase(const std::string& model) {
    write_text(folder / "c.yaml", text("precision: ", precision_name, "\nmodel: ", model, "\n"));
  }

  void give(std::vector<TensorView> tensors) const {
    write_safetensors(folder / "in.safetensors", std::move(tensors));
  }

  ProgramResult run(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"forward", path("c.yaml"),
                                       "--in",    path("in.safetensors"),
                                       "--out",   path("out.safetensors")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_heed(arguments);
  }

  std::string path(const std::string& name) const { return (folder / name).string(); }
  SafeTensors out() const { return SafeTensors(folder / "out.safetensors"); }

  const TempDir folder;
};

const char* const attention = "{type: causal_attention, d_in: 4, d_out: 3, context_length: 6}";
const char* const forward_gpt =
    "{type: gpt, vocab_size: 7, context_length: 6, d_model: 8, num_heads: 2, num_layers: 2}";

}  // namespace

TEST_CASE("heed forward: values and gradients are those of the layer") {
  const ForwardCase c(attention);
  const Array x = values({2, 5, 4}), dy = values({2, 5, 3}, -1, 1, 9);
  const Mask mask = mask_of({2, 5}, {1, 1, 0, 1, 1, 0, 1, 1, 1, 1});
  c.give({view("x", x), view("dy", dy), view("mask", mask)});
  const ProgramResult result = c.run({"--backward", "--save-weights", c.path("w.safetensors")});
  REQUIRE_MESSAGE(result.exit_code == 0, result.err);

  manual_seed(123);
  const auto layer = make_layer(
      "causal_attention", ConfigNode::map({{"d_in", 4}, {"d_out", 3}, {"context_length", 6}}));
  const Tensor leaf = Tensor::parameter(x);
  const Tensor y = (*layer)({leaf, mask});
  y.backward(dy.clone());
  const SafeTensors out = c.out();
  CHECK(out.tensors().size() == 5);
  check_same_bits(out.array("y"), y.value());
  check_same_bits(out.array("grad.x"), leaf.grad());
  const SafeTensors weights(fs::path(c.path("w.safetensors")));
  for (const NamedParameter& parameter : layer->parameters()) {
    check_same_bits(out.array("grad." + parameter.name), parameter.tensor.grad());
    check_same_bits(weights.array(parameter.name), parameter.tensor.value());
  }
}

TEST_CASE("heed forward: a run is its model with its weights") {
  const TempDir folder;
  const std::string run = (folder / "run").string(), out = (folder / "y.safetensors").string();
  REQUIRE(run_heed({"train", write_config(folder), "--out", run}).exit_code == 0);
  const std::string in = (folder / "x.safetensors").string();
  write_safetensors(in, {view("ids", ids({1, 3}, {1, 2, 3}))});
  const auto forward = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all{"forward", run, "--in", in, "--out", out};
    all.insert(all.end(), more.begin(), more.end());
    const ProgramResult result = run_heed(all);
    REQUIRE_MESSAGE(result.exit_code == 0, result.err);
    return SafeTensors(fs::path(out)).array("y");
  };
  const Array own = forward({});
  check_same_bits(forward({"--weights", run + "/checkpoints/step-000012/model.safetensors"}), own);
}

TEST_CASE("heed forward: ids, given weights, another precision, no gradients without --backward") {
  const ForwardCase c(forward_gpt);
  c.give({view("ids", ids({2, 3}, {1, 2, 3, 4, 5, 6}))});
  REQUIRE(c.run({"--seed", "7", "--save-weights", c.path("w.safetensors")}).exit_code == 0);
  CHECK(c.out().names() == std::vector<std::string>{"y"});
  const Array y = c.out().array("y");
  CHECK(y.shape() == Shape{2, 3, 7});
  REQUIRE(c.run({"--set", "seed=8", "--weights", c.path("w.safetensors")}).exit_code == 0);
  check_same_bits(c.out().array("y"), y);

  if (!has_float64()) return;
  const std::string other = is_float64 ? "float32" : "float64";
  REQUIRE(c.run({"--weights", c.path("w.safetensors"), "--precision", other}).exit_code == 0);
  CHECK(c.out().at("y").dtype == (is_float64 ? Dtype::F32 : Dtype::F64));
  CHECK(check_near(c.out().array("y"), y, 1e-5) == 42);
}

TEST_CASE("heed forward: dropout with --train, from the seed") {
  const ForwardCase c("{type: dropout, dropout: 0.5}");
  c.give({view("x", Array::full({6, 10}, 1))});
  REQUIRE(c.run().exit_code == 0);
  check_same_bits(c.out().array("y"), Array::full({6, 10}, 1));
  REQUIRE(c.run({"--train"}).exit_code == 0);
  manual_seed(123);
  const auto layer = make_layer("dropout", ConfigNode::map({{"dropout", 0.5}}));
  const Array dropped = (*layer)(Tensor(Array::full({6, 10}, 1))).value();
  check_same_bits(c.out().array("y"), dropped);
  CHECK(std::count(dropped.data(), dropped.data() + 60, real{0}) > 10);
}

TEST_CASE("heed forward: the book's buffers are masks") {
  const ForwardCase c(attention);
  c.give({view("x", values({5, 4}))});
  REQUIRE(c.run({"--save-weights", c.path("w.safetensors"), "--book-buffers"}).exit_code == 0);
  const SafeTensors weights(fs::path(c.path("w.safetensors")));
  CHECK(weights.at("mask").shape == std::vector<int64_t>{6, 6});
  const Array mask = weights.array("mask");
  for (int64_t i = 0; i < 36; ++i) {
    CHECK(mask.data()[i] == (i % 6 > i / 6 ? 1 : 0));
  }
}

TEST_CASE("heed forward: the book's buffers of a whole model") {
  const ForwardCase c(forward_gpt);
  c.give({view("ids", Ids::from({1, 2}, {3, 4}))});
  REQUIRE(c.run({"--save-weights", c.path("w.safetensors"), "--book-buffers"}).exit_code == 0);
  const SafeTensors weights(fs::path(c.path("w.safetensors")));
  CHECK(weights.find("trf_blocks.0.att.mask") != nullptr);
  CHECK(weights.find("trf_blocks.1.att.mask") != nullptr);
  CHECK(c.run({"--weights", c.path("w.safetensors")}).exit_code == 0);
}
