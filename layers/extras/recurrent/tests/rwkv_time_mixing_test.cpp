#include "layers/extras/recurrent/rwkv_time_mixing.h"

#include "tests/support/sequence_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("rwkv_time_mixing: initial values are those of the published code's first block") {
  const auto layer = layer_of("{type: rwkv_time_mixing, d_in: 4, d_out: 4}");
  // -5 + 8 (i / 3)^0.7; ln 0.3 and 0, 0.5, -0.5 in turn
  check_near(parameter_of(*layer, "time_decay"),
             Array::from({4}, {-5, real(-1.2922955458242416), real(1.0231836557698957), 3}));
  const real first = std::log(real(0.3));
  check_near(parameter_of(*layer, "time_first"),
             Array::from({4}, {first, first + real(0.5), first - real(0.5), first}));
  for (const char* name : {"time_mix_k", "time_mix_v"}) {
    check_near(parameter_of(*layer, name), Array::from({1, 1, 4}, {0, 0.25, 0.5, 0.75}));
  }
  check_near(parameter_of(*layer, "time_mix_r"),
             Array::from({1, 1, 4}, {0, 0.5, std::sqrt(real(0.5)), std::sqrt(real(0.75))}));
  check_near(parameter_of(*layer_of("{type: rwkv_time_mixing, d_in: 1, d_out: 1}"), "time_decay"),
             Array::from({1}, {-5}));
  // init gpt2 draws the matrices, and those alone.
  const auto model = layer_of(
      "{type: gpt, vocab_size: 7, context_length: 8, d_model: 4, num_heads: 1, num_layers: 1, "
      "init: gpt2, attention: {type: rwkv_time_mixing}}");
  for (const char* name : {"time_decay", "time_first", "time_mix_k", "time_mix_r"}) {
    check_same_bits(parameter_of(*model, text("trf_blocks.0.att.", name)),
                    parameter_of(*layer, name));
  }
}

TEST_CASE("rwkv_time_mixing: several tokens after others, then one by one, equal all at once") {
  check_parts(*layer_of("{type: rwkv_time_mixing, d_in: 5, d_out: 7}"), values({2, 9, 5}),
              {0, 4, 7, 8, 9});
}
