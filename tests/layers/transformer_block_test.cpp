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

TEST_CASE("transformer_block: attention alone, with feed_forward none") {
  const auto only = layer_of(block("feed_forward: none"));
  auto& layer = dynamic_cast<TransformerBlock&>(*only);
  perturb_parameters(layer);
  const Tensor x(values({2, 9, 12}));
  check_near(layer(x), (x + layer.att(layer.norm1(x))).value());
}

TEST_CASE("transformer_block: a feed-forward of one's own") {
  const auto own = layer_of(block("feed_forward: {type: linear, bias: false}"));
  auto& layer = dynamic_cast<TransformerBlock&>(*own);
  const Tensor x(values({2, 9, 12}));
  const Tensor attended = x + layer.att(layer.norm1(x));
  check_near(layer(x), (attended + (*layer.ff)((*layer.norm2)(attended))).value());
  CHECK(!layer_of(block("feed_forward: {type: simple_attention}"))->signature().causal);
}
