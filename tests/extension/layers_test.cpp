#include <heed/testing.h>

#include "alibi_attention.h"

using namespace heed;

TEST_CASE("layers: everything that is expected of them") {
  const std::vector<Shape> shapes{{2, 9, 8}, {9, 8}, {1, 1, 8}};
  testing::check_layer("{type: gated_linear, d_in: 8, d_out: 6}", shapes);
  testing::check_layer("{type: gated_linear, d_in: 8, d_out: 6, gate: sigmoid}", shapes);
  testing::check_layer("{type: alibi_attention, d_in: 8, d_out: 6, num_heads: 2}", shapes);
  testing::check_layer("{type: alibi_attention, d_in: 8, d_out: 6, num_heads: 1, dropout: 0.3}");
  testing::check_layer(
      "{type: transformer_block, d_model: 8, num_heads: 2, context_length: 9, dropout: 0.1, "
      "attention: {type: alibi_attention}}",
      shapes);
}

TEST_CASE("layers: attention of one's own on both sides of an encoder_decoder") {
  testing::check_layer(
      "{type: encoder_decoder, source_vocab_size: 5, vocab_size: 7, source_length: 6, "
      "context_length: 6, d_model: 8, num_heads: 2, num_layers: 1, "
      "attention: {type: alibi_attention}, encoder_attention: {type: alibi_attention}}");
}

TEST_CASE("alibi_attention: the same token nearby weighs more than far away") {
  extension::AlibiAttention layer({.d_in = 4, .d_out = 4, .num_heads = 2});
  const Tensor x = Array::full({1, 6, 4}, 1);  // equal tokens: only the distance tells them apart
  const AttentionRecorder recorder;
  layer(x);
  REQUIRE(recorder.recorded.size() == 2);
  for (const auto& head : recorder.recorded) {
    const real* last = head.weights.data() + 5 * 6;
    for (int s = 0; s < 5; ++s) CHECK(last[s] < last[s + 1]);
    CHECK(head.weights.data()[1] == 0);  // the first sees nothing later
  }
  // Head 0 of 2: m = 2^-4.
  const real* row = recorder.recorded[0].weights.data() + 6;
  CHECK(row[0] / row[1] == doctest::Approx(std::exp(-1.0 / 16)));
}

TEST_CASE("gated_linear: a rule between fields") {
  CHECK_THROWS_AS(
      make_layer(
          "gated_linear",
          ConfigNode::map({{"d_in", 2}, {"d_out", 2}, {"gate", "sigmoid"}, {"bias", false}})),
      ConfigError);
}
