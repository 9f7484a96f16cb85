#include "layers/transformer_block.h"

#include "autograd/random/streams.h"
#include "tests/support/layer_cases.h"
#include "tests/support/run_program.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::string block(const std::string& options = "") {
  return "{type: transformer_block, d_model: 12, context_length: 9, num_heads: 3" +
         (options.empty() ? "" : ", " + options) + "}";
}

}  // namespace

TEST_CASE("transformer_block: parameters are the book's") {
  CHECK(parameter_lines(*layer_of(block())) ==
        "att.W_query.weight (12, 12)\natt.W_key.weight (12, 12)\natt.W_value.weight (12, 12)\n"
        "att.out_proj.weight (12, 12)\natt.out_proj.bias (12,)\n"
        "ff.layers.0.weight (48, 12)\nff.layers.0.bias (48,)\n"
        "ff.layers.2.weight (12, 48)\nff.layers.2.bias (12,)\n"
        "norm1.scale (12,)\nnorm1.shift (12,)\nnorm2.scale (12,)\nnorm2.shift (12,)\n");
  CHECK(parameter_lines(*layer_of(block("bias: false, norm: rms_norm, hidden_multiplier: 1, "
                                        "qkv_bias: true, attention: {type: causal_attention}"))) ==
        "att.W_query.weight (12, 12)\natt.W_query.bias (12,)\natt.W_key.weight (12, 12)\n"
        "att.W_key.bias (12,)\natt.W_value.weight (12, 12)\natt.W_value.bias (12,)\n"
        "ff.layers.0.weight (12, 12)\nff.layers.2.weight (12, 12)\nnorm1.scale (12,)\n"
        "norm2.scale (12,)\n");
  CHECK(check_torch_init(block("qkv_bias: true"), 3) == 4 * 156 + 2 * 576 + 60 + 48);
}

TEST_CASE("transformer_block: attention and feed-forward stand beside shortcuts, behind norms") {
  TransformerBlock layer({.d_model = 12, .context_length = 9, .num_heads = 3});
  perturb_parameters(layer);
  const Tensor x(values({2, 9, 12}));
  const Tensor middle = x + layer.att(layer.norm1(x));
  check_near(layer(x), (middle + (*layer.ff)((*layer.norm2)(middle))).value());
}

TEST_CASE("transformer_block: parallel_residual, both branches read the same x") {
  const auto made = layer_of(block("parallel_residual: true, dropout: 0.25"));
  auto& layer = dynamic_cast<TransformerBlock&>(*made);
  perturb_parameters(layer);
  CHECK(parameter_lines(layer) == parameter_lines(*layer_of(block())));
  const Tensor x(values({2, 9, 12}));
  const StreamsState before = streams().state();
  const Array y = layer(x).value();
  streams().set_state(before);  // the same masks, in the same order
  const Tensor attended = layer.drop_shortcut(layer.att(layer.norm1(x)));
  const Tensor fed = layer.drop_shortcut((*layer.ff)((*layer.norm2)(x)));
  check_near(y, (x + attended + fed).value());
  const std::vector<Branch> branches = layer.branches();
  REQUIRE(branches.size() == 2);
  CHECK(!branches[0].parallel);
  CHECK(branches[1].parallel);
  const auto alone = [](const std::string& more) {
    return layer_of(block("feed_forward: none" + more));
  };
  check_same_bits((*alone(", parallel_residual: true"))(x).value(), (*alone(""))(x).value());
}

TEST_CASE("transformer_block: what the attention is not told comes from the block") {
  const auto attention_of = [](const std::string& options) {
    const auto layer = layer_of(block(options));
    return write_fields(dynamic_cast<const TransformerBlock&>(*layer).config)
        .get("attention")
        .text();
  };
  CHECK(attention_of("") == "");
  const auto told = layer_of(block(
      "dropout: 0.25, bias: false, attention: {type: multi_head_attention, num_heads: 2, out_bias: "
      "true, dropout: 0.5, context_length: 20}"));
  const auto options_of = [](const Module& layer) {
    const auto& block = dynamic_cast<const TransformerBlock&>(layer);
    return to_yaml(write_struct(block.config.attention.config()));
  };
  CHECK(options_of(*told) ==
        "d_in: 12\nd_out: 12\ncontext_length: 20\nnum_heads: 2\ndropout: 0.5\nqkv_bias: false\n"
        "out_proj: true\nout_bias: true\ncausal: true\nrope: false\nrope_base: 10000\n"
        "rotary_fraction: 1\nscale: auto\nattention_weights: softmax\nwindow: all\nsinks: 0\n"
        "soft_cap: none\nalibi: false\npacked: false\nnum_kv_heads: all\nhead_dim: auto\n"
        "qk_norm: none\nnorm_eps: 1e-05\n");
  CHECK(options_of(*layer_of(block("dropout: 0.25, qkv_bias: true, bias: false"))) ==
        "d_in: 12\nd_out: 12\ncontext_length: 9\nnum_heads: 3\ndropout: 0.25\nqkv_bias: true\n"
        "out_proj: true\nout_bias: false\ncausal: true\nrope: false\nrope_base: 10000\n"
        "rotary_fraction: 1\nscale: auto\nattention_weights: softmax\nwindow: all\nsinks: 0\n"
        "soft_cap: none\nalibi: false\npacked: false\nnum_kv_heads: all\nhead_dim: auto\n"
        "qk_norm: none\nnorm_eps: 1e-05\n");
}

TEST_CASE("transformer_block: causal when its attention is") {
  CHECK(layer_of(block())->signature().causal);
  CHECK(layer_of(block("attention: {type: multi_head_attention_wrapper}"))->signature().causal);
  CHECK_FALSE(layer_of(block("attention: {causal: false}"))->signature().causal);
  CHECK_FALSE(layer_of(block("attention: {type: self_attention_v2}"))->signature().causal);
}

TEST_CASE("transformer_block: PyTorch's values") {
  int64_t compared = 0;
  for (const std::string name :
       {"block", "block_options", "block_simple", "block_wrapper", "block_parallel"}) {
    compared += check_golden(name);
  }
  CHECK(compared == 2 * (15 + 12 + 10 + 17 + 18));
}

TEST_CASE("transformer_block: attention alone, with feed_forward none") {
  const auto only = layer_of(block("feed_forward: none"));
  CHECK(parameter_lines(*only) ==
        "att.W_query.weight (12, 12)\natt.W_key.weight (12, 12)\natt.W_value.weight (12, 12)\n"
        "att.out_proj.weight (12, 12)\natt.out_proj.bias (12,)\nnorm1.scale (12,)\n"
        "norm1.shift (12,)\n");
  auto& layer = dynamic_cast<TransformerBlock&>(*only);
  perturb_parameters(layer);
  const Tensor x(values({2, 9, 12}));
  check_near(layer(x), (x + layer.att(layer.norm1(x))).value());
  CHECK(config_error_of(block("feed_forward: none, activation: relu, hidden_multiplier: 2"))
            .ends_with(": has no effect with feed_forward none; leave one out"));
}

TEST_CASE("transformer_block: a feed-forward of one's own, its sizes from the block") {
  CHECK(parameter_lines(*layer_of(block("feed_forward: feed_forward"))) ==
        parameter_lines(*layer_of(block())));
  CHECK(parameter_lines(*layer_of(block("feed_forward: {hidden_multiplier: 2}"))) ==
        parameter_lines(*layer_of(block("hidden_multiplier: 2"))));
  const std::string gated =
      "ff.gate_proj.weight (5, 12)\nff.up_proj.weight (5, 12)\nff.down_proj.weight (12, 5)\n";
  CHECK(contains(parameter_lines(*layer_of(
                     block("feed_forward: gated_feed_forward, ff_width: 5, bias: false"))),
                 gated));
  CHECK(contains(parameter_lines(*layer_of(
                     block("feed_forward: {type: gated_feed_forward, ff_width: 5, bias: false}"))),
                 gated));
  const auto own = layer_of(block("feed_forward: {type: linear, bias: false}"));
  auto& layer = dynamic_cast<TransformerBlock&>(*own);
  const Tensor x(values({2, 9, 12}));
  const Tensor attended = x + layer.att(layer.norm1(x));
  check_near(layer(x), (attended + (*layer.ff)((*layer.norm2)(attended))).value());
  CHECK(!layer_of(block("feed_forward: {type: simple_attention}"))->signature().causal);

  CHECK(config_error_of(block("feed_forward: linear, activation: relu"))
            .ends_with(": has no effect with feed_forward linear; leave one out"));
  CHECK(config_error_of(block("feed_forward: {activation: relu}, activation: silu"))
            .ends_with("activation: silu is not feed_forward.activation relu; give it once"));
  CHECK(contains(config_error_of(block("feed_forward: gated_feed_foward")),
                 "did you mean gated_feed_forward?"));
  CHECK(error_of([&] { (*layer_of(block("feed_forward: {type: linear, d_out: 5}")))(x); }) ==
        "expected the feed-forward ff to give (2, 9, 12), the shape of x, got (2, 9, 5)");
}

TEST_CASE("transformer_block: refuses") {
  CHECK(error_of([] {
          (*layer_of(block()))(Tensor(values({2, 10, 12})));
        }) ==
        "multi_head_attention: expected at most context_length 9 tokens, got 10 in (2, 10, 12)");
  CHECK(error_of([] {
          (*layer_of(block()))(Tensor(values({2, 9, 8})));
        }) == "layer_norm: expected scale (8,) for x (2, 9, 8), got (12,)");
  CHECK(error_of([] {
          (*layer_of(block("attention: {type: causal_attention, d_out: 5}")))(
              Tensor(values({2, 9, 12})));
        }) ==
        "transformer_block: expected the attention to give (2, 9, 12), the shape of x, got "
        "(2, 9, 5)");
  CHECK(error_of([] {
          (*layer_of(block("attention: {type: causal_attention, d_in: 5}")))(
              Tensor(values({2, 9, 12})));
        }) == "causal_attention: expected x (B, T, d_in 5) or (T, d_in), got (2, 9, 12)");
  CHECK(config_error_of(block("attention: {num_heads: 5}")) ==
        "model.yaml:1:103: model.attention.num_heads: must divide d_out: d_out is 12, num_heads is "
        "5");
  CHECK(config_error_of("{type: transformer_block, context_length: 9, d_model: 8, num_heads: 3}") ==
        "model.yaml:1:76: model.num_heads: must divide d_model: d_model is 8, num_heads is 3; "
        "possible are 1, 2, 4, 8");
  CHECK(config_error_of(block("attention: {type: multihead_attention}")) ==
        "model.yaml:1:98: model.attention.type: unknown layer multihead_attention, did you mean "
        "multi_head_attention?");
}
