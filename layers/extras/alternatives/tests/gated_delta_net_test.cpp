#include "layers/extras/alternatives/gated_delta_net.h"

#include <algorithm>

#include "autograd/ops/slice.h"
#include "tests/support/sequence_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("gated_delta_net: initial values keep between 20% and all of the memory") {
  for (const bool in_gpt2 : {false, true}) {
    CAPTURE(in_gpt2);
    const auto layer = layer_of(
        in_gpt2 ? "{type: gpt, vocab_size: 7, context_length: 8, d_model: 64, num_heads: 64, "
                  "num_layers: 1, init: gpt2, attention: {type: gated_delta_net}}"
                : "{type: gated_delta_net, d_in: 4, d_out: 64, num_heads: 64}");
    const std::string path = in_gpt2 ? "trf_blocks.0.att." : "";
    const Array A_log = parameter_of(*layer, path + "A_log");
    const Array dt_bias = parameter_of(*layer, path + "dt_bias");
    double least = 1, most = 0;
    for (int64_t i = 0; i < 64; ++i) {
      const double step = std::log1p(std::exp(static_cast<double>(dt_bias.data()[i])));  // softplus
      CHECK(step > 0.00099);
      CHECK(step < 0.101);
      const double kept = std::exp(-std::exp(static_cast<double>(A_log.data()[i])) * step);
      least = std::min(least, kept);
      most = std::max(most, kept);
    }
    CHECK(least > 0.2);  // e^(-16 * 0.1)
    CHECK(least < 0.7);
    CHECK(most > 0.98);
  }
  // init gpt2 draws the matrices alone.
  const auto model = layer_of(
      "{type: gpt, vocab_size: 7, context_length: 8, d_model: 4, num_heads: 2, num_layers: 1, "
      "init: gpt2, attention: {type: gated_delta_net}}");
  const Array norm = parameter_of(*model, "trf_blocks.0.att.o_norm.scale");
  check_values(Tensor(norm), {2}, {1, 1});
  const Array taps = parameter_of(*model, "trf_blocks.0.att.q_conv1d.weight");
  CHECK(std::any_of(taps.data(), taps.data() + 16, [](real x) { return std::abs(x) > real(0.3); }));
}

TEST_CASE("gated_delta_net: several tokens after others, then one by one, equal all at once") {
  for (const int kernel : {1, 2, 4, 9}) {
    const auto layer = layer_of(text(
        "{type: gated_delta_net, d_in: 5, d_out: 6, num_heads: 2, kernel_size: ", kernel, "}"));
    check_parts(*layer, values({2, 9, 5}), {0, 4, 7, 8, 9});
  }
}

TEST_CASE("gated_delta_net: the future changes no bit of the past") {
  const auto layer = layer_of("{type: gated_delta_net, d_in: 5, d_out: 6, num_heads: 2}");
  const Array x = values({1, 70, 5});
  const Array y = (*layer)(Tensor(x)).value();
  for (const int64_t last : {0, 31, 32, 68}) {
    Array other = x.clone();
    std::fill_n(other.mutable_data() + (last + 1) * 5, (69 - last) * 5, real(2));
    const Array z = (*layer)(Tensor(other)).value();
    check_same_bits(slice(Tensor(z), 1, 0, last + 1).value(),
                    slice(Tensor(y), 1, 0, last + 1).value());
    CHECK(z.data()[(last + 1) * 6] != y.data()[(last + 1) * 6]);
  }
}

TEST_CASE("gated_delta_net: what it keeps of earlier tokens has a fixed size") {
  const NoGrad off;
  const auto layer = layer_of("{type: gated_delta_net, d_in: 8, d_out: 16, num_heads: 2}");
  const auto bytes = [&](int64_t tokens) {
    Cache cache(tokens);
    const Tensor x = values({1, tokens, 8});
    const int64_t before = pool::stats().live_bytes;
    Input in(x);
    in.cache = &cache;
    (void)(*layer)(in);
    return pool::stats().live_bytes - before;
  };
  CHECK(bytes(200) == bytes(10));
  CHECK(bytes(10) > 0);
}
