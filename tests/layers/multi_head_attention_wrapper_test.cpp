#include "layers/multi_head_attention_wrapper.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::string block_around =
    "{type: transformer_block, d_model: 12, context_length: 6, num_heads: 3, attention: {type: "
    "multi_head_attention_wrapper";

}  // namespace

TEST_CASE("multi_head_attention_wrapper: heads side by side are causal_attention, one by one") {
  const auto layer = layer_of(
      "{type: multi_head_attention_wrapper, d_in: 12, d_out: 5, "
      "context_length: 6, num_heads: 3}");
  const Tensor x(values({2, 6, 12}));
  const Array y = (*layer)(x).value();
  int64_t compared = 0;
  for (int64_t h = 0; h < 3; ++h) {
    const auto head = layer_of("{type: causal_attention, d_in: 12, d_out: 5, context_length: 6}");
    for (const std::string name : {"W_query.weight", "W_key.weight", "W_value.weight"}) {
      set_parameter(*head, name, parameter_of(*layer, text("heads.", h, ".", name)));
    }
    const Array part = (*head)(x).value();
    for (int64_t i = 0; i < part.size(); ++i, ++compared) {
      REQUIRE(part.data()[i] == y.data()[i / 5 * 15 + h * 5 + i % 5]);
    }
  }
  CHECK(compared == 2 * 6 * 15);
}

TEST_CASE("multi_head_attention_wrapper: inside a block its heads share the block's width") {
  const auto filled = layer_of(block_around + "}}");
  CHECK(parameter_of(*filled, "att.heads.2.W_value.weight").shape() == Shape{4, 12});
  CHECK((*filled)(Tensor(values({2, 6, 12}))).shape() == Shape{2, 6, 12});
  const auto own_heads = layer_of(block_around + ", num_heads: 2}}");
  CHECK(parameter_of(*own_heads, "att.heads.1.W_value.weight").shape() == Shape{6, 12});
  CHECK((*own_heads)(Tensor(values({2, 6, 12}))).shape() == Shape{2, 6, 12});
  const auto in_gpt = layer_of(
      "{type: gpt, vocab_size: 5, num_layers: 1, d_model: 12, "
      "context_length: 6, num_heads: 6, attention: {type: "
      "multi_head_attention_wrapper}}");
  CHECK(parameter_of(*in_gpt, "trf_blocks.0.att.heads.5.W_key.weight").shape() == Shape{2, 12});
  CHECK((*in_gpt)(ids({3}, {0, 1, 4})).shape() == Shape{3, 5});
}
