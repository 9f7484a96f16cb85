#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "autograd/base/error.h"
#include "layers/config/defaults.h"
#include "layers/config/fields.h"
#include "layers/config/node.h"
#include "layers/config/read.h"
#include "layers/config/types.h"
#include "layers/config/values.h"
#include "layers/module/registry.h"
#include "tests/support/near.h"
#include "train/yaml/yaml.h"

using namespace heed;
using heed::testing::error_of;

namespace {

struct Heads {
  int64_t d_in = 0, num_heads = 0;
  double dropout = 0;
  bool packed = false, bias = true;
  void fields(Fields& f) {
    f.required("d_in", d_in, at_least(1), "width of x").example(4);
    f.required("num_heads", num_heads, at_least(1), "number of heads").example(2);
    f.optional("dropout", dropout, probability, "chance to drop a weight").also_try({0.5});
    f.optional("packed", packed, "one matrix for queries, keys and values");
    f.optional("bias", bias, "bias of the projections");
  }
  void check(ConfigErrors& errors, const ConfigNode& at) const {
    if (d_in % num_heads != 0) {
      errors.add_field(at, "num_heads", "does not divide d_in: d_in is ", d_in, ", num_heads is ",
                       num_heads);
    }
  }
};

struct Plain {
  void fields(Fields&) {}
};

struct Inner {
  int64_t steps = 0;
  std::optional<double> clip = 1.0;
  void fields(Fields& f) {
    f.required("steps", steps, at_least(1), "optimizer steps");
    f.optional("clip_grad_norm", clip, above(0), "largest norm of the gradient");
  }
};

struct Everything {
  bool flag = true;
  int64_t count = 3, d_model = 8, heads = 2;
  double rate = 1e-3;
  std::string name = "x y", norm = "layer_norm";
  std::vector<double> betas = {0.9, 0.999};
  std::vector<int64_t> sizes;
  std::vector<std::string> words;
  std::optional<int64_t> batches = 20;
  LayerChoice attention = "attention";
  std::vector<LayerChoice> stack = {"plain"};
  Inner train;
  void fields(Fields& f) {
    f.layer("attention", attention, "attends",
            [this](Defaults& d) { d.set("d_in", d_model).set("num_heads", heads); });
    f.optional("flag", flag, "a flag");
    f.optional("count", count, in_range(1, 10), "a count");
    f.optional("d_model", d_model, at_least(1), "width");
    f.optional("heads", heads, at_least(1), "heads");
    f.optional("rate", rate, in_range(0, 1, Bound::open), "a rate");
    f.optional("name", name, "a name");
    f.choice("norm", norm, {"layer_norm", "rms_norm"}, "which norm");
    f.optional("betas", betas, probability, "of the moments", exactly(2));
    f.optional("sizes", sizes, at_least(1), "sizes");
    f.optional("words", words, "words");
    f.optional("batches", batches, at_least(1), "batches", "all");
    f.layers("stack", stack, "one after the other");
    f.group("train", train, "training");
  }
};

void register_types() {
  static const bool once = [] {
    config_types("layer").add(config_type<Heads>("attention", "attends"));
    config_types("layer").add(config_type<Plain>("plain", "does nothing"));
    config_types("layer").add(config_type<Everything>("everything", "has every field"));
    return true;
  }();
  CHECK(once);
}

// What is said about this line of a config that has nothing else wrong.
std::string mistakes(const std::string& line) {
  register_types();
  return error_of(
      [&] { read_fields<Everything>(parse_config(line + "\ntrain: {steps: 1}\n", "c")); });
}

}  // namespace

// What is said about the fields of a run is in tests/messages.
TEST_CASE("config: a mistake in a field that was filled in is where its value was written") {
  const std::string divides = "attention.num_heads: does not divide d_in: d_in is ";
  CHECK(mistakes("attention: {num_heads: 3}") == "c:1:24: " + divides + "8, num_heads is 3");
  CHECK(mistakes("d_model: 9") == "c:1:1: " + divides + "9, num_heads is 2");
  CHECK(mistakes("heads: 3") == "c:1:8: " + divides + "8, num_heads is 3");
}

TEST_CASE("config: what no run has: a list of whole numbers, and a layer without fields") {
  CHECK(mistakes("sizes: [1, 2.0]") ==
        "c:1:12: sizes.1: expected a whole number of at least 1, got 2.0; write 2");
  CHECK(mistakes("sizes: {}") ==
        "c:1:8: sizes: expected a list of whole numbers of at least 1, got a map");
  CHECK(mistakes("stack: [{type: plain, x: 1}]") ==
        "c:1:23: stack.0.x: unknown key; there are no keys here");
}

TEST_CASE("config: values") {
  register_types();
  const auto read = [](const std::string& yaml) {
    return read_fields<Everything>(parse_config(yaml + "\ntrain: {steps: 5}\n", "c"));
  };
  CHECK(read("rate: 1e-3").rate == 1e-3);
  CHECK(read("rate: 3e-4").rate == 3e-4);
  CHECK(read("rate: +.5").rate == 0.5);
  CHECK(read("rate: 1").rate == 1.0);
  CHECK(read("count: +7").count == 7);
  CHECK_FALSE(read("flag: false").flag);
  CHECK(read("name: 'no'").name == "no");
  CHECK(read("name: \"\"").name.empty());
  CHECK(read("name: 12").name == "12");
  CHECK(read("norm: rms_norm").norm == "rms_norm");
  CHECK(read("betas: [0.5, 0]").betas == std::vector<double>{0.5, 0});
  CHECK(read("sizes: [1, 2]").sizes == std::vector<int64_t>{1, 2});
  CHECK(read("words: [a, 'b c']").words == std::vector<std::string>{"a", "b c"});
  CHECK(read("batches: all").batches == std::nullopt);
  CHECK(read("batches: 7").batches == 7);
  CHECK(read("").batches == 20);
  CHECK(read("").train.clip == 1.0);
  CHECK(read("stack: [{type: plain}, {type: plain}]").stack.size() == 2);
}

TEST_CASE("config: a nested layer is completed from the struct around it") {
  register_types();
  const auto attention = [](const std::string& yaml) {
    const auto all = read_fields<Everything>(parse_config(yaml + "\ntrain: {steps: 5}\n", "c"));
    return to_yaml(write_struct(all.attention.config()));
  };
  CHECK(attention("d_model: 16") ==
        "d_in: 16\nnum_heads: 2\ndropout: 0\npacked: false\nbias: true\n");
  CHECK(attention("attention: {d_in: 6, packed: true}") ==
        "d_in: 6\nnum_heads: 2\ndropout: 0\npacked: true\nbias: true\n");
  CHECK(attention("attention: {type: plain}") == "{}\n");

  // Options filled in from around are not printed, so that they follow edits of the printed config.
  Everything made;
  made.d_model = 16;
  made.train.steps = 1;
  const Everything complete = checked(made);
  CHECK(*complete.attention.find<int64_t>("d_in") == 16);
  CHECK(complete.attention.find<double>("d_in") == nullptr);
  CHECK(complete.attention.find<int64_t>("d_out") == nullptr);
  CHECK(to_yaml(write_fields(complete).get("attention")) ==
        "type: attention\ndropout: 0\npacked: false\nbias: true\n");
  made.heads = 5;
  CHECK_THROWS_WITH_AS(checked(made),
                       "attention.num_heads: does not divide d_in: d_in is 16, num_heads is 5",
                       ConfigError);
}

TEST_CASE("config: a part that is read once another has decided its sizes") {
  register_types();
  const auto mistakes_with = [](const heed::Sizes& sizes, bool are_known) {
    const ConfigNode node = parse_config("attention: {dropout: 2}\ntrain: {steps: 5}\n", "c");
    Everything all;
    ConfigErrors errors;
    StructReader reader(config_ref(all), node, errors);
    reader.read_values();
    CHECK(all.train.steps == 5);  // what decides the sizes may need it
    reader.read_part("attention", sizes, are_known);
    CHECK(*all.attention.find<int64_t>("d_in") == sizes.front().second);
    CHECK(reader.finish());
    return std::string(errors.exception().what());
  };
  const std::string dropout =
      "c:1:22: attention.dropout: expected a number from 0 to below 1, got 2";
  CHECK(mistakes_with({{"d_in", 6}, {"num_heads", 2}}, true) == dropout);
  CHECK(mistakes_with({{"d_in", 0}, {"num_heads", 2}}, true) ==
        "c:1:12: attention.d_in: expected a whole number of at least 1, got 0\n" + dropout);
  CHECK(mistakes_with({{"d_in", 0}, {"num_heads", 2}}, false) == dropout);
}

TEST_CASE("config: the resolved config reads back to itself") {
  register_types();
  const std::string yaml =
      "rate: 1e-2\nname: 'no'\nbatches: all\nstack: [{type: attention, d_in: 4, num_heads: 2}]\n"
      "attention: {type: attention, d_in: 4}\ntrain: {steps: 5}\n";
  const ConfigNode resolved = write_fields(read_fields<Everything>(parse_config(yaml, "c")));
  CHECK(to_yaml(resolved) ==
        "attention:\n  type: attention\n  d_in: 4\n  dropout: 0\n  packed: false\n  bias: true\n"
        "flag: true\ncount: 3\nd_model: 8\nheads: 2\nrate: 0.01\nname: \"no\"\nnorm: layer_norm\n"
        "betas: [0.9, 0.999]\nsizes: []\nwords: []\nbatches: all\n"
        "stack:\n  - type: attention\n    d_in: 4\n    num_heads: 2\n    dropout: 0\n"
        "    packed: false\n    bias: true\n"
        "train:\n  steps: 5\n  clip_grad_norm: 1\n");
  const ConfigNode again = parse_config(to_yaml(resolved), "r");
  CHECK(again == resolved);
  CHECK(write_fields(read_fields<Everything>(again)) == resolved);
}

TEST_CASE("config: documentation") {
  std::string described;
  for (const FieldInfo& info : list_fields<Heads>()) {
    const std::string usual = info.required ? "required" : "default " + info.value.text();
    described += info.name + ": " + expected(info) + "; " + usual + "\n";
  }
  CHECK(described ==
        "d_in: a whole number of at least 1; required\n"
        "num_heads: a whole number of at least 1; required\n"
        "dropout: a number from 0 to below 1; default 0\n"
        "packed: true or false; default false\n"
        "bias: true or false; default true\n");
  CHECK(list_fields<Everything>().size() == 14);
}

TEST_CASE("config: trees made in C++") {
  ConfigNode node = ConfigNode::map({{"type", "gpt"}, {"n", 3}, {"on", true}, {"r", 0.5}});
  CHECK(to_yaml(node) == "type: gpt\nn: 3\non: true\nr: 0.5\n");
  CHECK(to_yaml(ConfigNode::map({{"a", "12"}})) == "a: \"12\"\n");
  node.set("n", 4);
  node.set("l", ConfigNode::list({1, ConfigNode::map({{"x", 1}})}));
  CHECK(node.get("l").at(1).get("x").path() == "l.1.x");
  CHECK(node.erase("on"));
  CHECK_FALSE(node.erase("on"));
  CHECK(node.size() == 4);
  CHECK(node.at(1).text() == "4");
  const ConfigNode copy = node;
  node.find("l")->at(1).set("x", 2);
  CHECK(copy.get("l").at(1).get("x").text() == "1");
  CHECK(node != copy);
  CHECK_THROWS_AS(node.set("n", 1).set("x", 1), ConfigError);
  CHECK_THROWS_AS(node.at(9), ConfigError);
  CHECK(to_text(node.mark()).empty());
}
