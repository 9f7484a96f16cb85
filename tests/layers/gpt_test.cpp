#include "layers/gpt.h"

#include "autograd/base/rethrow.h"
#include "layers/config/describe.h"
#include "layers/config/values.h"
#include "layers/multi_head_attention.h"
#include "layers/rms_norm.h"
#include "tests/support/layer_cases.h"
#include "tests/support/run_program.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::string gpt_of(int heads, const std::string& options, int layers = 2) {
  return text("{type: gpt, vocab_size: 11, context_length: 9, d_model: 12, num_heads: ", heads,
              ", num_layers: ", layers, options.empty() ? "" : ", ", options, "}");
}
std::string gpt(const std::string& options = "", int layers = 2) {
  return gpt_of(3, options, layers);
}

Array drawn_normal(Generator& generator, const Shape& shape, double std) {
  Array a = Array::uninitialised(shape);
  fill_normal(generator, {a.mutable_data(), static_cast<size_t>(a.size())}, 0, std);
  return a;
}

}  // namespace

TEST_CASE("gpt: norm_eps, ff_width, rope_base and swiglu, as a llama has them") {
  const std::string llama = "position: rope, norm: rms_norm, bias: false, activation: swiglu, ";
  const auto layer = layer_of(gpt(llama + "ff_width: 5, norm_eps: 0.5, rope_base: 7"));
  CHECK(parameter_of(*layer, "trf_blocks.1.ff.up_proj.weight").shape() == Shape{5, 12});
  const auto& model = dynamic_cast<const Gpt&>(*layer);
  CHECK(dynamic_cast<const RmsNorm&>(*model.final_norm).config.eps == 0.5);
  CHECK(
      dynamic_cast<const MultiHeadAttention&>(*model.trf_blocks[1]->att).config.variant.rope_base ==
      7);
}

TEST_CASE("gpt: rope and grouped heads reach the attention") {
  const auto layer = layer_of(gpt("position: rope, num_kv_heads: 1"));
  CHECK(parameter_of(*layer, "trf_blocks.1.att.W_key.weight").shape() == Shape{4, 12});
  CHECK(parameter_lines(*layer).find("pos_emb") == std::string::npos);
  const Ids ids = Ids::from({1, 3}, {1, 1, 2}), other = Ids::from({1, 3}, {1, 2, 1});
  const Array a = (*layer)(ids).value(), b = (*layer)(other).value();
  CHECK(std::equal(a.data(), a.data() + 11, b.data()));
  CHECK_FALSE(std::equal(a.data() + 22, a.data() + 33, b.data() + 22));
}

TEST_CASE("gpt: rotary_fraction and parallel_residual reach its blocks") {
  const auto layer = layer_of(gpt("position: rope, rotary_fraction: 0.5, parallel_residual: true"));
  const auto& block = *dynamic_cast<const Gpt&>(*layer).trf_blocks[1];
  CHECK(block.config.parallel_residual);
  const auto& attention = dynamic_cast<const MultiHeadAttention&>(*block.att).config;
  CHECK(attention.variant.rotary_width(attention.head_width()) == 2);
}

TEST_CASE("gpt: head_dim and norm_eps reach the attention, as a qwen3 has them") {
  const auto layer = layer_of(gpt_of(5,
                                     "head_dim: 4, norm_eps: 0.5, position: rope, "
                                     "norm: rms_norm, attention: {qk_norm: rms_norm}"));
  CHECK(parameter_of(*layer, "trf_blocks.0.att.W_query.weight").shape() == Shape{20, 12});
  CHECK(parameter_of(*layer, "trf_blocks.0.att.out_proj.weight").shape() == Shape{12, 20});
  const auto& block = *dynamic_cast<const Gpt&>(*layer).trf_blocks[0];
  const auto& attention = dynamic_cast<const MultiHeadAttention&>(*block.att);
  CHECK(dynamic_cast<const RmsNorm&>(**attention.q_norm).config.eps == 0.5);
}

TEST_CASE("gpt: init gpt2 draws once more, as nanoGPT does") {
  layer_of(gpt("qkv_bias: true"), 9);  // the modules' own draws come first
  Generator generator = streams().init();
  const auto layer = layer_of(gpt("init: gpt2, tie_embeddings: true, qkv_bias: true"), 9);
  std::map<std::string, Array> want;
  want["tok_emb.weight"] = drawn_normal(generator, {11, 12}, 0.02);
  want["pos_emb.weight"] = drawn_normal(generator, {9, 12}, 0.02);
  for (const std::string b : {"trf_blocks.0.", "trf_blocks.1."}) {
    for (const std::string name : {"W_query", "W_key", "W_value", "out_proj"}) {
      want[b + "att." + name + ".weight"] = drawn_normal(generator, {12, 12}, 0.02);
      want[b + "att." + name + ".bias"] = Array::zeros({12});
    }
    want[b + "ff.layers.0.weight"] = drawn_normal(generator, {48, 12}, 0.02);
    want[b + "ff.layers.0.bias"] = Array::zeros({48});
    want[b + "ff.layers.2.weight"] = drawn_normal(generator, {12, 48}, 0.02);
    want[b + "ff.layers.2.bias"] = Array::zeros({12});
  }
  want["tok_emb.weight"] = drawn_normal(generator, {11, 12}, 0.02);  // again, as out_head's weight
  for (const std::string b : {"trf_blocks.0.", "trf_blocks.1."}) {
    want[b + "att.out_proj.weight"] = drawn_normal(generator, {12, 12}, 0.02 / std::sqrt(4.0));
    want[b + "ff.layers.2.weight"] = drawn_normal(generator, {12, 48}, 0.02 / std::sqrt(4.0));
  }
  for (const auto& tensor : want) {
    const std::string& name = tensor.first;
    const Array& array = tensor.second;
    CAPTURE(name);
    check_same_bits(parameter_of(*layer, name), array);
  }
  CHECK(want.size() == 26);
  CHECK(layer->parameters().size() == 26 + 10);  // and the norms
  CHECK(generator.state() == streams().init().state());
}

TEST_CASE("gpt: init gpt2 leaves what is no matrix of a layer and no bias of a projection") {
  int64_t models = 0, matrices = 0, biases = 0, others = 0;
  for (const std::string& type : layer_registry().types().names()) {
    // Types without a layer, registered by config_test.cpp.
    if (type == "attention" || type == "everything" || type == "plain") continue;
    for (const std::string branch : {"attention", "feed_forward"}) {
      CAPTURE(type);
      CAPTURE(branch);
      const std::string given = text("qkv_bias: true, ", branch, ": {type: ", type, "}");
      if (heed::error_of<ConfigError>([&] { layer_of(gpt_of(3, given, 1)); })) continue;
      const auto drawn = layer_of(gpt_of(3, given, 1), 9);
      const auto again = layer_of(gpt_of(3, "init: gpt2, " + given, 1), 9);
      const std::vector<NamedParameter> before = drawn->parameters(), after = again->parameters();
      REQUIRE(before.size() == after.size());
      for (size_t i = 0; i < after.size(); ++i) {
        CAPTURE(after[i].name);
        const Array &a = before[i].tensor.value(), &b = after[i].tensor.value();
        const bool same = std::equal(a.data(), a.data() + a.size(), b.data());
        const std::string own = after[i].name.substr(after[i].name.rfind('.') + 1);
        if (b.rank() == 2) {
          CHECK_FALSE(same);
          ++matrices;
        } else if (own == "bias" || own == "in_proj_bias") {
          CHECK(std::all_of(b.data(), b.data() + b.size(), [](real v) { return v == 0; }));
          ++biases;
        } else {
          CHECK(same);
          ++others;
        }
      }
      ++models;
    }
  }
  CHECK(models >= 10);
  CHECK(matrices > 50);
  CHECK(biases > 50);
  CHECK(others > 30);
}

TEST_CASE("gpt: tied embeddings are one parameter with the sum of both gradients") {
  const auto tied = layer_of(gpt("tie_embeddings: true")), loose = layer_of(gpt());
  CHECK(tied->parameter_count() == loose->parameter_count() - 11 * 12);
  for (const NamedParameter& p : tied->parameters()) CHECK(p.name != "out_head.weight");
  check_same_bits(parameter_of(*tied, "tok_emb.weight"), parameter_of(*loose, "tok_emb.weight"));
  set_parameter(*loose, "out_head.weight", parameter_of(*tied, "tok_emb.weight"));
  const Input in = input_for(*tied, {2, 7});
  Results want = run(*loose, in);
  const Array head = want.at("out_head.weight");
  for (int64_t i = 0; i < head.size(); ++i) {
    want["tok_emb.weight"].mutable_data()[i] += head.data()[i];
  }
  CHECK(check_near(run(*tied, in), want, 20 * rounding, {"out_head.weight"}) == 31);
}

TEST_CASE("gpt: a list of attentions, which the blocks take in turn") {
  const auto layer = layer_of(gpt("attention: [{window: 4}, {type: causal_attention}, {}]", 4));
  const auto& blocks = dynamic_cast<const Gpt&>(*layer).trf_blocks;
  const auto window_of = [&](size_t i) {
    return blocks[i]->config.attention.find<std::optional<int64_t>>("window");
  };
  REQUIRE(blocks.size() == 4);
  CHECK(*window_of(0) == 4);
  CHECK(window_of(1) == nullptr);
  CHECK(blocks[1]->config.attention.type() == "causal_attention");
  CHECK(*window_of(2) == std::nullopt);
  CHECK(*window_of(3) == 4);
  CHECK(layer->signature().causal);
  CHECK_FALSE(layer_of(gpt("attention: [{}, {causal: false}]"))->signature().causal);
  CHECK_FALSE(layer_of(gpt("attention: [{}, {type: simple_attention}]"))->signature().cache);

  // Made in C++, written as it is read, and read again.
  Gpt::Config made;
  made.vocab_size = 11, made.context_length = 9, made.d_model = 12, made.num_heads = 3;
  made.num_layers = 2;
  made.attention = LayerChoice::list({"multi_head_attention", "causal_attention"});
  const ConfigNode written = write_fields(checked(made));
  const ConfigNode& attention = written.get("attention");
  REQUIRE(attention.is_list());
  CHECK(attention.size() == 2);
  CHECK_FALSE(attention.at(0).has("d_in"));  // filled in
  CHECK(attention.at(1).get("type").text() == "causal_attention");
  CHECK(write_fields(read_fields<Gpt::Config>(written)) == written);
  made.attention = LayerChoice::list({"multi_head_attention"});
  CHECK(write_fields(checked(made)).get("attention").get("type").text() == "multi_head_attention");
}

TEST_CASE("gpt: what a model gives to a list of attentions") {
  const std::string rope = "position: rope, rope_base: 100, attention: [{rope_base: 7}, ";
  const auto layer = layer_of(gpt(rope + "{}]"));
  const auto& blocks = dynamic_cast<const Gpt&>(*layer).trf_blocks;
  CHECK(*blocks[0]->config.attention.find<double>("rope_base") == 7);
  CHECK(*blocks[1]->config.attention.find<double>("rope_base") == 100);
}

TEST_CASE("gpt: embeddings, blocks, norm, logits") {
  const auto made = layer_of(gpt());
  auto& layer = dynamic_cast<Gpt&>(*made);
  const Input in = input_for(layer, {2, 7});
  Tensor x = (*layer.pos_emb)((*layer.tok_emb)(in));
  for (const Child<TransformerBlock>& block : layer.trf_blocks) x = block(x);
  check_near(layer(in), layer.out_head(layer.final_norm(x)).value());
  CHECK(layer(input_for(layer, {7})).shape() == Shape{7, 11});
}

TEST_CASE("gpt: every text of its config is read once, whatever the number of layers") {
  const int64_t before = scalars_read();
  layer_of(
      "{type: gpt, vocab_size: 5, context_length: 4, d_model: 4, num_heads: 2, num_layers: 4, "
      "dropout: 0.1, position: rope, attention: {type: multi_head_attention, qkv_bias: true}}");
  CHECK(scalars_read() - before == 8);  // without the two types
}

TEST_CASE("gpt: options of the attention that would do nothing are not written") {
  // The config of a run has every field but those, so that a copy of it can be read.
  ConfigNode options = ConfigNode::map({{"d_in", 8}, {"d_out", 8}, {"context_length", 4}});
  options.set("num_heads", 2);
  options.set("out_proj", false);
  const Choice read = read_options("layer", "multi_head_attention", options);
  CHECK_FALSE(write_struct(read.config()).has("out_bias"));
  CHECK(write_struct(read.config()).has("out_proj"));
}
