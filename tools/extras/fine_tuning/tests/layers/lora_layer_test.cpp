#include "tools/extras/fine_tuning/layers/lora_layer.h"

#include "autograd/ops/matmul.h"
#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::string small = "{type: lora_layer, d_in: 3, d_out: 2, rank: 2, alpha: 3";

Tensor three_rows() {
  return Tensor(Array::from({3, 3}, {real{1}, 2, 3, -1, 0, 1, 4, real{0.5}, -2}));
}

}  // namespace

TEST_CASE("lora: alpha / rank * B A x, and its product is that matrix") {
  const auto layer = layer_of(small + "}");
  set_parameter(*layer, "A", Array::from({2, 3}, {real{1}, 0, 2, 0, 1, -1}));
  set_parameter(*layer, "B", Array::from({2, 2}, {real{1}, 2, 0, 4}));
  // B A = [[1, 2, 0], [0, 4, -4]], times 1.5
  const Array expected = Array::from({2, 3}, {real{1.5}, 3, 0, 0, 6, -6});
  CHECK(check_near(dynamic_cast<LoraLayer&>(*layer).product(), expected) == 6);
  const Array y = (*layer)(three_rows()).value();
  CHECK(check_near(y, Array::from({3, 2}, {real{7.5}, -6, real{-1.5}, -6, real{7.5}, 15})) == 6);
}

TEST_CASE("lora: gives zeros before training, with any dropout; A is drawn as a Linear's weight") {
  const auto layer = layer_of("{type: lora_layer, d_in: 3, d_out: 2, rank: 4, dropout: 0.5}", 7);
  layer->train();
  const Array y = (*layer)(three_rows()).value();
  CHECK(check_near(y, Array::zeros({3, 2}), 0) == 6);
  const auto linear = layer_of("{type: linear, d_in: 3, d_out: 4, bias: false}", 7);
  check_same_bits(parameter_of(*layer, "A"), parameter_of(*linear, "weight"));
}

TEST_CASE("lora: dropout drops numbers of x before A, in training alone") {
  const auto layer = layer_of("{type: lora_layer, d_in: 3, d_out: 2, rank: 2, dropout: 0.5}");
  perturb_parameters(*layer);
  layer->train(false);
  const Array y = (*layer)(three_rows()).value().clone();
  check_same_bits((*layer)(three_rows()).value(), y);
  layer->train();
  const Array dropped = (*layer)(three_rows()).value();
  CHECK(std::memcmp(dropped.data(), y.data(), 6 * sizeof(real)) != 0);
}
