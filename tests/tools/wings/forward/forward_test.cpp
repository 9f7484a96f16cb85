// heed forward as a user runs it: files in, files out. tools/reference/forward_cases.py and the
// golden files of the layers compare the numbers with PyTorch's.
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

  // Expects this exit code and message, and no output file.
  void refuses(int exit_code, const std::string& words,
               const std::vector<std::string>& more = {}) const {
    CAPTURE(words);
    const ProgramResult result = run(more);
    CHECK(result.exit_code == exit_code);
    CHECK_MESSAGE(result.err.find(words) != std::string::npos, result.err);
    CHECK(result.out.empty());
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      CHECK(entry.path().filename().string().find("out") == std::string::npos);
    }
  }

  const TempDir folder;
};

const char* const attention = "{type: causal_attention, d_in: 4, d_out: 3, context_length: 6}";
const char* const small_gpt =
    "{type: gpt, vocab_size: 7, context_length: 6, d_model: 8, num_heads: 2, num_layers: 2}";

Array x_of(const Shape& shape) { return values(shape); }

}  // namespace

TEST_CASE("heed forward: values and gradients are those of the layer") {
  const ForwardCase c(attention);
  const Array x = x_of({2, 5, 4}), dy = values({2, 5, 3}, -1, 1, 9);
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
  CHECK(run_heed({"forward", run, "--in", in, "--out", run + "/config.yaml"}).exit_code == 2);

  forward({"--set", "model.num_heads=1"});  // on purpose
  std::string yaml = read_text(run + "/config.yaml");
  yaml.replace(yaml.find("num_heads: 3"), 12, "num_heads: 1");
  write_text(run + "/config.yaml", yaml);
  const ProgramResult edited = run_heed({"forward", run, "--in", in, "--out", out});
  CHECK(edited.exit_code == 2);
  CHECK(contains(edited.err, "config.yaml: was changed after training"));
}

TEST_CASE("heed forward: ids, given weights, another precision, no gradients without --backward") {
  const ForwardCase c(small_gpt);
  c.give({view("ids", ids({2, 3}, {1, 2, 3, 4, 5, 6}))});
  REQUIRE(c.run({"--seed", "7", "--save-weights", c.path("w.safetensors")}).exit_code == 0);
  CHECK(c.out().names() == std::vector<std::string>{"y"});
  const Array y = c.out().array("y");
  CHECK(y.shape() == Shape{2, 3, 7});
  REQUIRE(c.run({"--seed", "8", "--weights", c.path("w.safetensors")}).exit_code == 0);
  check_same_bits(c.out().array("y"), y);

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

TEST_CASE("heed forward: weights with more than the layer needs, and the book's buffers") {
  const ForwardCase c(attention);
  c.give({view("x", x_of({5, 4}))});
  REQUIRE(c.run({"--save-weights", c.path("w.safetensors"), "--book-buffers"}).exit_code == 0);
  const SafeTensors weights(fs::path(c.path("w.safetensors")));
  CHECK(weights.at("mask").shape == std::vector<int64_t>{6, 6});
  const Array mask = weights.array("mask");
  for (int64_t i = 0; i < 36; ++i) {
    CHECK(mask.data()[i] == (i % 6 > i / 6 ? 1 : 0));
  }
  CHECK(c.run({"--weights", c.path("w.safetensors")}).exit_code == 0);
  fs::remove(c.path("out.safetensors"));

  std::vector<TensorView> more{view("other", x_of({3}))};
  for (const char* name : {"W_query.weight", "W_key.weight", "W_value.weight"}) {
    more.push_back(view(name, weights.array(name)));
  }
  write_safetensors(c.path("more.safetensors"), more);
  c.refuses(1, "other", {"--weights", c.path("more.safetensors")});
  CHECK(c.run({"--weights", c.path("more.safetensors"), "--ignore-extra"}).exit_code == 0);
  fs::remove(c.path("out.safetensors"));

  more.pop_back();
  write_safetensors(c.path("less.safetensors"), more);
  c.refuses(1, "W_value.weight", {"--weights", c.path("less.safetensors"), "--ignore-extra"});
  more.push_back(view("W_value.weight", x_of({4, 3})));
  write_safetensors(c.path("wrong.safetensors"), more);
  c.refuses(1, "(4, 3)", {"--weights", c.path("wrong.safetensors"), "--ignore-extra"});
}

TEST_CASE("heed forward: the book's buffers of a whole model") {
  const ForwardCase c(small_gpt);
  c.give({view("ids", Ids::from({1, 2}, {3, 4}))});
  REQUIRE(c.run({"--save-weights", c.path("w.safetensors"), "--book-buffers"}).exit_code == 0);
  const SafeTensors weights(fs::path(c.path("w.safetensors")));
  CHECK(weights.find("trf_blocks.0.att.mask") != nullptr);
  CHECK(weights.find("trf_blocks.1.att.mask") != nullptr);
  CHECK(c.run({"--weights", c.path("w.safetensors")}).exit_code == 0);
}

TEST_CASE("heed forward: inputs that the layer cannot take") {
  const ForwardCase c(attention);
  c.refuses(1, "in.safetensors");  // missing file
  c.give({view("dy", x_of({2, 3}))});
  c.refuses(1, "expected a tensor x");
  c.give({view("x", x_of({2, 5, 4})), view("z", x_of({1}))});
  c.refuses(1, "unknown tensor z; the causal_attention takes x, dy, mask");
  c.give({view("x", x_of({2, 7, 4}))});
  c.refuses(1, "at most context_length 6 tokens, got 7");
  c.give({view("x", x_of({2, 5, 3}))});
  c.refuses(1, "d_in 4");
  c.give({view("x", ids({1, 4}, {1, 2, 3, 4}))});
  c.refuses(1, "x");
  c.give({view("x", x_of({2, 5, 4})), view("mask", mask_of({1, 3}, {1, 1, 1}))});
  c.refuses(1, "mask");
  c.give({view("x", x_of({2, 5, 4})), view("dy", x_of({2, 5, 4}))});
  c.refuses(1, "expected dy of the shape of y, (2, 5, 3), got (2, 5, 4)", {"--backward"});
}

TEST_CASE("heed forward: ids outside the vocabulary, a mask that nothing looks at, bad options") {
  const ForwardCase c(small_gpt);
  c.give({view("ids", ids({1, 3}, {1, 7, 2}))});
  c.refuses(1, "7");
  c.give({view("ids", ids({1, 3}, {1, -1, 2}))});
  c.refuses(1, "-1");
  c.give({view("x", x_of({1, 3}))});
  c.refuses(1, "expected a tensor ids, token ids (B, T) for the gpt, got x");
  c.give({view("ids", ids({1, 3}, {1, 3, 2}))});
  c.refuses(2, "--out and --save-weights are the same file",
            {"--save-weights", c.path("./out.safetensors")});
  c.refuses(2, "float16", {"--precision", "float16"});
  c.refuses(2, "--seed", {"--seed", "-1"});
  c.refuses(2, "--weights", {"--ignore-extra"});
  c.refuses(2, "of memory", {"--set", "model.d_model=400000"});
  c.refuses(2, "more memory than any", {"--set", "model.d_model=20000000"});
  c.refuses(2, "did you mean d_model?", {"--set", "model.d_modle=8"});

  const ForwardCase linear("{type: linear, d_in: 4, d_out: 2}");
  linear.give({view("x", x_of({2, 4})), view("mask", mask_of({1, 2}, {1, 1}))});
  linear.refuses(1, "unknown tensor mask; the linear takes x, dy");
}

TEST_CASE("heed forward: hostile files as input and as weights") {
  const auto file = [](const std::string& json, size_t data) {
    std::string bytes(8, '\0');
    for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(json.size() >> 8 * i & 255);
    return bytes + json + std::string(data, '\0');
  };
  const auto entry = [](const char* name, int begin, int end, const char* dtype = "F32") {
    return text('"', name, R"(":{"dtype":")", dtype, R"(","shape":[)", (end - begin) / 4,
                R"(],"data_offsets":[)", begin, ",", end, "]}");
  };
  const std::vector<std::pair<std::string, std::string>> hostile{
      {std::string("\xff\xff\xff\0\0\0\0\0{}", 10), "must end inside the file"},
      {file("{" + entry("x", 0, 8) + "," + entry("y", 4, 12) + "}", 12), "an overlap"},
      {file(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4), "run backwards"},
      {file("{" + entry("x", 0, 4) + "," + entry("y", 8, 12) + "}", 12), "a hole"},
      {file("{" + entry("x", 0, 4) + "," + entry("x", 4, 8) + "}", 8),
       "every key of an object once"},
      {file("{" + entry("x", 0, 4, "F8_E5M2") + "}", 4), "dtype must be"},
      {file(R"({"x":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0),
       "below 2^63"},
      {file("{\"x\":" + std::string(99'999'000, '['), 0), "at most 3 levels of brackets"},
  };
  const ForwardCase as_input(attention), as_weights(attention);
  as_weights.give({view("x", x_of({2, 5, 4}))});
  for (const auto& [bytes, rule] : hostile) {
    write_text(as_input.folder / "in.safetensors", bytes);
    as_input.refuses(1, rule);
    write_text(as_weights.folder / "w.safetensors", bytes);
    as_weights.refuses(1, rule, {"--weights", as_weights.path("w.safetensors")});
  }
}

TEST_CASE("heed forward: damaged files, and an output that cannot be written") {
  const ForwardCase c(attention);
  write_text(c.folder / "in.safetensors", "not tensors");
  c.refuses(1, "in.safetensors");
  write_text(c.folder / "in.safetensors", std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10));
  c.refuses(1, "header");
  c.give({view("x", x_of({2, 5, 4}))});
  write_text(c.folder / "w.safetensors", "");
  c.refuses(1, "w.safetensors", {"--weights", c.path("w.safetensors")});
  const ProgramResult result =
      run_heed({"forward", c.path("c.yaml"), "--in", c.path("in.safetensors"), "--out",
                c.path("no/such/y.safetensors")});
  CHECK(result.exit_code == 1);
  CHECK(!fs::exists(c.folder / "no"));
}
