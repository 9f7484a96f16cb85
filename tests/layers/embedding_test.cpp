#include "layers/embedding.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("embedding layer: rows of its table") {
  Embedding layer({3, 2});
  set_parameter(layer, "weight", Array::from({3, 2}, {1, 2, 3, 4, 5, 6}));
  check_values(layer(ids({2, 2}, {2, 0, 1, 2})), {2, 2, 2}, {5, 6, 1, 2, 3, 4, 5, 6});
  check_values(layer(ids({1}, {1})), {1, 2}, {3, 4});
  layer(ids({3}, {2, 0, 2})).backward(Array::from({3, 2}, {1, 2, 3, 4, 5, 6}));
  check_near(Tensor(layer.weight).grad(), Array::from({3, 2}, {3, 4, 0, 0, 6, 8}));
}

TEST_CASE("embedding layer: numbers are torch.nn.Embedding's") {
  for (const int64_t width : {2, 5, 33}) {  // fewer than 16 numbers, and not a multiple of 16
    const auto layer = layer_of(text("{type: embedding, vocab_size: 3, d_model: ", width, "}"));
    Generator generator(123);
    Array want = Array::uninitialised({3, width});
    fill_normal(generator, {want.mutable_data(), static_cast<size_t>(want.size())});
    check_same_bits(parameter_of(*layer, "weight"), want);
  }
}
