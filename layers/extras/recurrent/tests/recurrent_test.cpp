#include "layers/extras/recurrent/recurrent.h"

#include "autograd/graph/graph.h"
#include "tests/support/sequence_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

constexpr const char* all_types[] = {"rnn", "gru", "lstm"};

}  // namespace

TEST_CASE("rnn, gru and lstm: first numbers are those of torch.nn") {
  // torch.manual_seed(123); net = torch.nn.GRU(2, 4); net.weight_ih_l0[0], net.bias_hh_l0[-1]
  const auto layer = layer_of("{type: gru, d_in: 2, d_out: 4}", 123);
  const Array weight = parameter_of(*layer, "weight_ih_l0");
  const Array bias = parameter_of(*layer, "bias_hh_l0");
  CHECK(weight.data()[0] == doctest::Approx(-0.203888059).epsilon(1e-6));
  CHECK(weight.data()[1] == doctest::Approx(0.016562283).epsilon(1e-6));
  CHECK(bias.data()[11] == doctest::Approx(0.105998456).epsilon(1e-6));
}

TEST_CASE("rnn, gru and lstm: an initial state goes on where a sequence was cut") {
  for (const char* type : all_types) {
    const auto made = layer_of(text("{type: ", type, ", d_in: 3, d_out: 4}"));
    auto& layer = dynamic_cast<Recurrent&>(*made);
    const Tensor x = values({2, 7, 3});
    const Array all = layer(x).value();
    const Tensor first = layer.states(slice(x, 1, 0, 4), {});
    const Tensor later = layer.states(slice(x, 1, 4, 7), Recurrent::last(first));
    check_near(layer.outputs(later), slice(Tensor(all), 1, 4, 7).value());
    // What is padded at the end does not change the last state.
    const Mask mask = mask_of({2, 7}, {1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0});
    check_near(slice(layer.states(x, {}, mask), 1, 6, 7), slice(first, 1, 3, 4).value());
  }
}

TEST_CASE("rnn, gru and lstm: token by token, with a cache, equals all tokens at once") {
  for (const char* type : all_types) {
    check_parts(*layer_of(text("{type: ", type, ", d_in: 3, d_out: 4}")), values({6, 3}),
                {0, 3, 4, 6});
  }
}
