#include "layers/wings/recurrent/recurrent.h"

#include "autograd/graph/graph.h"
#include "tests/support/layer_cases.h"
#include "train/wings/examine/testing.h"

using namespace heed;
using namespace heed::testing;

namespace {

constexpr const char* all_types[] = {"rnn", "gru", "lstm"};

}  // namespace

TEST_CASE("rnn, gru and lstm: names, shapes and first numbers are those of torch.nn") {
  CHECK(parameter_lines(*layer_of("{type: rnn, d_in: 4, d_out: 3}")) ==
        "weight_ih_l0 (3, 4)\nweight_hh_l0 (3, 3)\nbias_ih_l0 (3,)\nbias_hh_l0 (3,)\n");
  CHECK(parameter_lines(*layer_of("{type: gru, d_in: 4, d_out: 3, bias: false}")) ==
        "weight_ih_l0 (9, 4)\nweight_hh_l0 (9, 3)\n");
  CHECK(check_torch_init("{type: rnn, d_in: 5, d_out: 5}", 123) == 60);
  CHECK(parameter_lines(*layer_of("{type: lstm, d_in: 4, d_out: 3}")) ==
        "weight_ih_l0 (12, 4)\nweight_hh_l0 (12, 3)\nbias_ih_l0 (12,)\nbias_hh_l0 (12,)\n");
  CHECK(check_torch_init("{type: gru, d_in: 9, d_out: 9}", 7) == 9 * 3 * 20);
  CHECK(check_torch_init("{type: lstm, d_in: 9, d_out: 9}", 7) == 9 * 4 * 20);
  // torch.manual_seed(123); net = torch.nn.GRU(2, 4); net.weight_ih_l0[0], net.bias_hh_l0[-1]
  const auto layer = layer_of("{type: gru, d_in: 2, d_out: 4}", 123);
  const Array weight = parameter_of(*layer, "weight_ih_l0");
  const Array bias = parameter_of(*layer, "bias_hh_l0");
  CHECK(weight.data()[0] == doctest::Approx(-0.203888059).epsilon(1e-6));
  CHECK(weight.data()[1] == doctest::Approx(0.016562283).epsilon(1e-6));
  CHECK(bias.data()[11] == doctest::Approx(0.105998456).epsilon(1e-6));
}

TEST_CASE("rnn, gru and lstm: values and gradients are PyTorch's") {
  for (const char* name : all_types) {
    CHECK(check_golden(name) == 2 * 6);
    CHECK(check_golden(text(name, "_no_bias")) == 2 * 4);
  }
}

TEST_CASE("rnn, gru and lstm: all that a layer must satisfy") {
  for (const char* type : all_types) {
    for (const char* bias : {"true", "false"}) {
      check_layer(text("{type: ", type, ", d_in: 5, d_out: 4, bias: ", bias, "}"),
                  {{2, 6, 5}, {6, 5}});
    }
  }
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
  const NoGrad off;
  for (const char* type : all_types) {
    const auto layer = layer_of(text("{type: ", type, ", d_in: 3, d_out: 4}"));
    const Tensor x = values({6, 3});
    const Array all = (*layer)(x).value();
    Cache cache(6);
    for (const auto& [begin, end] : {std::pair{0, 3}, std::pair{3, 4}, std::pair{4, 6}}) {
      Input in(slice(x, 0, begin, end));
      in.cache = &cache;
      check_near((*layer)(in), slice(Tensor(all), 0, begin, end).value());
      cache.advance(end - begin);
    }
  }
}

TEST_CASE("rnn, gru and lstm: wrong inputs and fields are refused") {
  for (const char* type : all_types) {
    const auto layer = layer_of(text("{type: ", type, ", d_in: 4, d_out: 3}"));
    CHECK(error_of([&] {
            (*layer)(Tensor(values({2, 5})));
          }) == text(type, ": expected x (B, T, d_in 4) or (T, d_in), got (2, 5)"));
  }
  CHECK(config_error_of("{type: rnn, input_size: 4, d_out: 3}").find("d_in") != std::string::npos);
}
