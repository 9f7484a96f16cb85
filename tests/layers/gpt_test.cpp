#include "layers/gpt.h"

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

TEST_CASE("gpt: parameters are the book's") {
  const auto layer = layer_of(
      "{type: gpt, vocab_size: 11, context_length: 9, d_model: 12, "
      "num_heads: 3, num_layers: 1}");
  CHECK(parameter_lines(*layer) ==
        "tok_emb.weight (11, 12)\npos_emb.weight (9, 12)\n"
        "trf_blocks.0.att.W_query.weight (12, 12)\ntrf_blocks.0.att.W_key.weight (12, 12)\n"
        "trf_blocks.0.att.W_value.weight (12, 12)\ntrf_blocks.0.att.out_proj.weight (12, 12)\n"
        "trf_blocks.0.att.out_proj.bias (12,)\n"
        "trf_blocks.0.ff.layers.0.weight (48, 12)\ntrf_blocks.0.ff.layers.0.bias (48,)\n"
        "trf_blocks.0.ff.layers.2.weight (12, 48)\ntrf_blocks.0.ff.layers.2.bias (12,)\n"
        "trf_blocks.0.norm1.scale (12,)\ntrf_blocks.0.norm1.shift (12,)\n"
        "trf_blocks.0.norm2.scale (12,)\ntrf_blocks.0.norm2.shift (12,)\n"
        "final_norm.scale (12,)\nfinal_norm.shift (12,)\nout_head.weight (11, 12)\n");
  CHECK(layer->signature().ids);
}

TEST_CASE("gpt: drawn in the order of construction, as PyTorch's modules") {
  const int64_t block = 4 * 144 + 12 + 2 * 576 + 60 + 48;
  CHECK(check_torch_init(gpt(), 123) == 2 * block + 2 * 11 * 12 + 9 * 12 + 24);
  CHECK(check_torch_init(gpt("position: sinusoidal, norm: rms_norm"), 5) ==
        2 * (block - 24) + 2 * 11 * 12 + 12);
}

TEST_CASE("gpt: norm_eps, ff_width, rope_base and swiglu, as a llama has them") {
  const std::string llama = "position: rope, norm: rms_norm, bias: false, activation: swiglu, ";
  const auto layer = layer_of(gpt(llama + "ff_width: 5, norm_eps: 0.5, rope_base: 7"));
  CHECK(parameter_of(*layer, "trf_blocks.1.ff.up_proj.weight").shape() == Shape{5, 12});
  const auto& model = dynamic_cast<const Gpt&>(*layer);
  CHECK(dynamic_cast<const RmsNorm&>(*model.final_norm).config.eps == 0.5);
  CHECK(dynamic_cast<const MultiHeadAttention&>(*model.trf_blocks[1]->att).config.rope_base == 7);
  const auto mistake = [](const std::string& options) {
    const std::string error = config_error_of(gpt(options));
    return error.substr(error.find(" model.") + 1);
  };
  CHECK(mistake("rope_base: 7") ==
        "model.rope_base: 7 has no effect with position learned; write position: rope, or leave "
        "rope_base out");
  CHECK(mistake("position: rope, rope_base: 7, attention: {type: multi_head_attention, "
                "rope_base: 8}") ==
        "model.rope_base: 7 is not attention.rope_base 8; give it once");
  CHECK(mistake("ff_width: 5, hidden_multiplier: 3") ==
        "model.hidden_multiplier: 3 has no effect with ff_width 5; leave one out");
  CHECK(mistake("ff_width: 5, feed_forward: none") ==
        "model.ff_width: has no effect with feed_forward none; leave one out");
  CHECK(mistake("norm_eps: 0") == "model.norm_eps: expected a number above 0, got 0");
}

TEST_CASE("gpt: rope and grouped heads reach the attention") {
  const auto layer = layer_of(gpt("position: rope, num_kv_heads: 1"));
  CHECK(parameter_of(*layer, "trf_blocks.1.att.W_key.weight").shape() == Shape{4, 12});
  CHECK(parameter_lines(*layer).find("pos_emb") == std::string::npos);
  const Ids ids = Ids::from({1, 3}, {1, 1, 2}), other = Ids::from({1, 3}, {1, 2, 1});
  const Array a = (*layer)(ids).value(), b = (*layer)(other).value();
  CHECK(std::equal(a.data(), a.data() + 11, b.data()));
  CHECK_FALSE(std::equal(a.data() + 22, a.data() + 33, b.data() + 22));
  const std::string plain = "attention: {type: causal_attention}";
  CHECK(config_error_of(gpt("position: rope, " + plain))
            .find("model.position: expected an attention that takes rope, such as "
                  "multi_head_attention, "
                  "got causal_attention") != std::string::npos);
  CHECK(config_error_of(gpt("position: rope, attention: {rope: false}"))
            .find("model.position: rope, but attention.rope is false: no token would have a "
                  "position; leave attention.rope out") != std::string::npos);
  CHECK(config_error_of(gpt("num_kv_heads: 1, attention: {num_kv_heads: 3}"))
            .find("model.num_kv_heads: 1 is not attention.num_kv_heads 3; give it once") !=
        std::string::npos);
  CHECK(config_error_of(gpt("num_kv_heads: 1, attention: {num_kv_heads: 1}")) == "no error");
  CHECK(config_error_of(gpt("num_kv_heads: 1, " + plain))
            .find("model.num_kv_heads: expected an attention that takes num_kv_heads") !=
        std::string::npos);
}

TEST_CASE("gpt: rotary_fraction and parallel_residual reach its blocks") {
  const auto layer = layer_of(gpt("position: rope, rotary_fraction: 0.5, parallel_residual: true"));
  const auto& block = *dynamic_cast<const Gpt&>(*layer).trf_blocks[1];
  CHECK(block.config.parallel_residual);
  CHECK(dynamic_cast<const MultiHeadAttention&>(*block.att).config.rotary_width() == 2);
  const auto mistake = [](const std::string& options) {
    const std::string error = config_error_of(gpt(options));
    return error.substr(error.find(" model.") + 1);
  };
  CHECK(mistake("rotary_fraction: 0.5") ==
        "model.rotary_fraction: 0.5 has no effect with position learned; write position: rope, or "
        "leave rotary_fraction out");
  CHECK(mistake("position: rope, rotary_fraction: 0.5, attention: {rotary_fraction: 1}") ==
        "model.rotary_fraction: 0.5 is not attention.rotary_fraction 1; give it once");
  CHECK(mistake("position: rope, attention: {rotary_fraction: 0.5}") == "no error");
  CHECK(mistake("position: rope, rotary_pct: 0.5")
            .ends_with("rotary_pct: here it is rotary_fraction"));
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
  CHECK(config_error_of(gpt("head_dim: 4, attention: {head_dim: 6}"))
            .ends_with("model.head_dim: 4 is not attention.head_dim 6; give it once"));
  CHECK(contains(config_error_of(gpt("head_dim: 4, attention: {type: causal_attention}")),
                 "model.head_dim: expected an attention that takes head_dim"));
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

TEST_CASE("gpt: what a list of attentions must be, and what a model gives it") {
  const auto mistake = [](const std::string& options) {
    const std::string error = config_error_of(gpt(options));
    return error.substr(error.find(" model.") + 1);
  };
  CHECK(mistake("attention: []") ==
        "model.attention: expected a layer, written {type: NAME, ...}, or a list of one or more, "
        "got 0 elements");
  CHECK(mistake("attention: [{}, {}, {}]") ==
        "model.attention: expected as many as there are blocks, num_layers 2, or fewer, got 3");
  CHECK(config_error_of(gpt("attention: [{window: 4}, {windw: 4}]")) ==
        "model.yaml:1:123: model.attention.1.windw: unknown key, did you mean window?");
  CHECK(mistake("attention: [{}, 5]") ==
        "model.attention.1: expected a layer, written {type: NAME, ...}, got 5");
  CHECK(mistake("attention: [{}, {type: multi_head_attention_wrapper, "
                "num_heads: 5}]") ==
        "model.attention.1.num_heads: must divide d_model: d_model is 12, num_heads is 5; possible "
        "are 1, 2, 3, 4, 6, 12");
  // One of them has what the model says.
  CHECK(mistake("attention: [{num_heads: 4}, {}]") == "no error");
  CHECK(mistake("attention: [{num_heads: 4}, {num_heads: 6}]") ==
        "model.num_heads: 3 is not attention.num_heads 6; give the number of heads once");
  CHECK(mistake("position: rope, attention: [{type: causal_attention}, {rope: false}]") ==
        "model.position: rope, but attention.rope is false: no token would have a position; leave "
        "attention.rope out");
  CHECK(mistake("position: rope, attention: [{type: causal_attention}, {}]") == "no error");
  CHECK(mistake("position: rope, attention: [{rope: false}, {}]") == "no error");
  CHECK(mistake("attention: [{alibi: true}, {}]") == "no error");
  CHECK(mistake("attention: [{alibi: true}, {alibi: true}]") ==
        "model.position: learned, but attention.alibi takes its place; write none");
  const std::string rope = "position: rope, rope_base: 100, attention: [{rope_base: 7}, ";
  CHECK(mistake(rope + "{rope_base: 8}]") ==
        "model.rope_base: 100 is not attention.rope_base 8; give it once");
  const auto layer = layer_of(gpt(rope + "{}]"));
  const auto& blocks = dynamic_cast<const Gpt&>(*layer).trf_blocks;
  CHECK(*blocks[0]->config.attention.find<double>("rope_base") == 7);
  CHECK(*blocks[1]->config.attention.find<double>("rope_base") == 100);
  CHECK(mistake("num_kv_heads: 1, attention: [{num_kv_heads: 3}, {}]") == "no error");
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

TEST_CASE("gpt: PyTorch's values") {
  int64_t files = 0, compared = 0;
  for (const std::string& name : golden_names()) {
    if (!name.starts_with("gpt") || golden_types(name)[0] != "gpt") continue;
    ++files;
    if (is_built(name)) {
      CHECK(check_golden(name) >= 2 * 15);
      ++compared;
    }
  }
  CHECK(files == 24);
  CHECK(compared >= 11);
}

TEST_CASE("gpt: every text of its config is read once, whatever the number of layers") {
  const int64_t before = scalars_read();
  layer_of(
      "{type: gpt, vocab_size: 5, context_length: 4, d_model: 4, num_heads: 2, num_layers: 4, "
      "dropout: 0.1, position: rope, attention: {type: multi_head_attention, qkv_bias: true}}");
  CHECK(scalars_read() - before == 8);  // without the two types
}

TEST_CASE("gpt: refuses") {
  const auto layer = layer_of(gpt());
  CHECK(error_of([&] {
          (*layer)(Ids::full({2, 10}, 0));
        }) == "gpt: expected at most context_length 9 tokens, got 10");
  CHECK(error_of([&] {
          (*layer)(ids({1, 3}, {0, 11, 3}));
        }) ==
        "embedding: expected ids from 0 to 10, got 11 at (0, 1); the table has as many rows as the "
        "vocabulary");
  CHECK(error_of([&] {
          (*layer)(Ids::full({1, 2, 2}, 0));
        }) == "gpt: expected ids (B, T) or (T), got (1, 2, 2)");
  CHECK(error_of([&] { (*layer)(Tensor(values({2, 7, 12}))); }).starts_with("gpt: expected ids"));
  CHECK(config_error_of("{type: gpt, vocab_size: 11, context_length: 9, d_model: 8, num_heads: 3, "
                        "num_layers: 1}") ==
        "model.yaml:1:78: model.num_heads: must divide d_model: d_model is 8, num_heads is 3; "
        "possible are 1, 2, 4, 8");
  CHECK(config_error_of(gpt("d_modle: 3, attention: {type: simple_atention}")) ==
        "model.yaml:1:97: model.d_modle: unknown key, did you mean d_model?\n"
        "model.yaml:1:127: model.attention.type: unknown layer simple_atention, did you mean "
        "simple_attention?");
}

TEST_CASE("gpt: options of the attention that would do nothing") {
  const auto message = [](const std::string& attention) {
    return config_error_of(gpt("attention: {" + attention + "}"));
  };
  const auto expect = [&](const std::string& attention, const std::string& part) {
    const std::string got = message(attention);
    CHECK_MESSAGE(got.find(part) != std::string::npos, got);
  };
  expect("num_heads: 2", "model.num_heads: 3 is not attention.num_heads 2; give the number of ");
  expect("rope_base: 500000",
         "model.attention.rope_base: 500000 has no effect with rope false; write rope: true, or "
         "leave rope_base out");
  for (const char* type : {"", "type: packed_attention, "}) {
    expect(text(type, "out_proj: false, out_bias: true"),
           "model.attention.out_bias: has no effect with out_proj false; leave one of them out");
  }
  for (const char* fine :
       {"num_heads: 3", "rope: true, rope_base: 500000", "out_proj: false", "scale: 1"}) {
    CHECK_MESSAGE(message(fine) == "no error", fine);
  }
  const std::string whole =
      "{type: multi_head_attention, d_in: 8, d_out: 8, context_length: 4, num_heads: 2, qkv_bias: "
      "false, out_proj: false";
  CHECK(config_error_of(whole + ", out_bias: true}").find("out_bias: has no effect with") !=
        std::string::npos);
  // The config of a run has every field but those, so that a copy of it can be read.
  ConfigNode options = ConfigNode::map({{"d_in", 8}, {"d_out", 8}, {"context_length", 4}});
  options.set("num_heads", 2);
  options.set("out_proj", false);
  const Choice read = read_options("layer", "multi_head_attention", options);
  CHECK_FALSE(write_struct(read.config()).has("out_bias"));
  CHECK(write_struct(read.config()).has("out_proj"));
}
