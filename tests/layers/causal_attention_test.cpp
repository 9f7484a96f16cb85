#include "layers/causal_attention.h"

#include "tests/support/layer_cases.h"
#include "tests/support/seed_numbers.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("causal_attention: with the weights of v2 it is v2 under a lower triangular mask") {
  const auto layer = layer_of("{type: causal_attention, d_in: 12, d_out: 5, context_length: 9}");
  const auto v2 = layer_of("{type: self_attention_v2, d_in: 12, d_out: 5}", 7);
  copy_parameters(*v2, *layer);
  Mask lower = Mask::uninitialised({1, 1, 9, 9});
  for (int64_t i = 0; i < 81; ++i) lower.mutable_data()[i] = i % 9 <= i / 9 ? 1 : 0;
  const Tensor x(values({3, 9, 12}));
  CHECK(check_near(run(*layer, x), run(*v2, {x, lower})) == 5);
}

TEST_CASE("causal_attention: dropout is on the weights after the softmax") {
  const auto layer =
      layer_of("{type: causal_attention, d_in: 3, d_out: 6, context_length: 6, dropout: 0.5}", 789);
  // Gives the layer, of width 6, the attention weights of the v2 layer of width 2: the query and
  // key matrices are padded with zeros, and the query is rescaled.
  const auto v2 = layer_of("{type: self_attention_v2, d_in: 3, d_out: 2}", 789);
  Array query = Array::zeros({6, 3}), key = Array::zeros({6, 3});
  const real scale = std::sqrt(real(3));  // scores are divided by sqrt(6) here, by sqrt(2) in v2
  for (int64_t i = 0; i < 6; ++i) {
    query.mutable_data()[i] = parameter_of(*v2, "W_query.weight").data()[i] * scale;
    key.mutable_data()[i] = parameter_of(*v2, "W_key.weight").data()[i];
  }
  set_parameter(*layer, "W_query.weight", query);
  set_parameter(*layer, "W_key.weight", key);
  streams().dropout().manual_seed(123);
  AttentionRecorder recorder;
  (*layer)(Tensor(seed_inputs()));
  REQUIRE(recorder.recorded.size() == 1);  // taken before dropout
  CHECK(check_seed_numbers("causal.weights", recorder.recorded[0].weights.reshaped({6, 6})) == 36);

  // With values = I the output equals the weights after dropout. Six more columns of x hold I, and
  // W_value selects them.
  const auto wide =
      layer_of("{type: causal_attention, d_in: 9, d_out: 6, context_length: 6, dropout: 0.5}", 789);
  Array x = Array::zeros({6, 9}), value = Array::zeros({6, 9});
  Array wide_query = Array::zeros({6, 9}), wide_key = Array::zeros({6, 9});
  for (int64_t i = 0; i < 6; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      x.mutable_data()[i * 9 + j] = seed_inputs().data()[i * 3 + j];
      wide_query.mutable_data()[i * 9 + j] = query.data()[i * 3 + j];
      wide_key.mutable_data()[i * 9 + j] = key.data()[i * 3 + j];
    }
    x.mutable_data()[i * 9 + 3 + i] = 1;
    value.mutable_data()[i * 9 + 3 + i] = 1;
  }
  set_parameter(*wide, "W_query.weight", wide_query);
  set_parameter(*wide, "W_key.weight", wide_key);
  set_parameter(*wide, "W_value.weight", value);
  for (const bool composed : {false, true}) {
    const Composed form(composed);
    streams().dropout().manual_seed(123);
    CHECK(check_seed_numbers("dropout.weights", (*wide)(Tensor(x)).value()) == 36);
  }
}
