#include "layers/sequential.h"

#include "layers/linear.h"
#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::string two_blocks =
    "{type: sequential, layers: [{type: embedding, vocab_size: 11, d_model: 12}, "
    "{type: causal_attention, d_in: 12, d_out: 5, context_length: 9}, {type: gelu}, "
    "{type: sequential, layers: [{type: linear, d_in: 5, d_out: 3}]}]}";

}  // namespace

TEST_CASE("sequential: parameters carry the layers' numbers, as in torch.nn.Sequential") {
  const auto layer = layer_of(two_blocks);
  CHECK(parameter_lines(*layer) ==
        "0.weight (11, 12)\n1.W_query.weight (5, 12)\n1.W_key.weight (5, 12)\n"
        "1.W_value.weight (5, 12)\n3.0.weight (3, 5)\n3.0.bias (3,)\n");
  CHECK(layer->signature().ids);
  CHECK((*layer)(input_for(*layer, {2, 7})).shape() == Shape{2, 7, 3});
}

TEST_CASE("sequential: each layer is given what the one before it made, and the mask") {
  const auto made = layer_of(two_blocks);
  const auto& layer = dynamic_cast<const Sequential&>(*made);
  Input in = input_for(layer, {2, 7});
  in.mask = mask_of({2, 7}, {0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1});
  const Tensor context_vec = layer.layers[1](in.with(layer.layers[0](in)));
  const Array want = layer.layers[3](layer.layers[2](context_vec)).value();
  check_same_bits((*made)(in).value(), want);
  const Array unmasked = (*made)(in.ids).value();
  CHECK(std::memcmp(unmasked.data(), want.data(), sizeof(real) * 42) != 0);
}

TEST_CASE("sequential: drawn in order; PyTorch's values") {
  CHECK(check_torch_init("{type: sequential, layers: [{type: linear, d_in: 4, d_out: 5}, {type: "
                         "relu}, {type: layer_norm, d_model: 5}, {type: linear, d_in: 5, d_out: 2, "
                         "bias: false}]}",
                         8) == 25 + 10 + 10);
  CHECK(check_golden("sequential") + check_golden("sequential_ids") == 2 * (8 + 18));
}

TEST_CASE("sequential: refuses") {
  CHECK(config_error_of("{type: sequential, layers: []}") ==
        "model.yaml:1:35: model.layers: expected a list of layers, at least 1 of them, got 0 "
        "elements");
  CHECK(config_error_of("{type: sequential, layers: [{type: linear, d_in: 4}]}") ==
        "model.yaml:1:36: model.layers.0.d_out: missing, expected a whole number of at least 1 "
        "(width of y)");
  const auto layer = layer_of(
      "{type: sequential, layers: [{type: linear, d_in: 4, d_out: 5}, "
      "{type: linear, d_in: 4, d_out: 2}]}");
  CHECK(error_of([&] {
          (*layer)(Tensor(values({3, 4})));
        }) == "linear: expected x (..., in) and weight (out, in), got (3, 5) and (2, 4)");
}

TEST_CASE("sequential: only the first layer may take ids") {
  const std::string embedding = "{type: embedding, vocab_size: 7, d_model: 4}";
  CHECK(error_of<ConfigError>([&] {
          layer_of("{type: sequential, layers: [" + embedding + ", " + embedding + "]}");
        }) ==
        "sequential: layer 1, embedding, takes ids; only the first layer may, as it would ignore "
        "what the layers before it made");
  CHECK(layer_of("{type: sequential, layers: [" + embedding +
                 ", {type: linear, d_in: 4, d_out: 7}"
                 "]}")
            ->signature()
            .ids);
}
