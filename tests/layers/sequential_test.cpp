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

TEST_CASE("sequential: each layer is given what the one before it made, and the mask") {
  const auto made = layer_of(two_blocks);
  const auto& layer = dynamic_cast<const Sequential&>(*made);
  CHECK(layer.signature().ids);
  Input in = input_for(layer, {2, 7});
  in.mask = mask_of({2, 7}, {0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1});
  const Tensor context_vec = layer.layers[1](in.with(layer.layers[0](in)));
  const Array want = layer.layers[3](layer.layers[2](context_vec)).value();
  check_same_bits((*made)(in).value(), want);
  const Array unmasked = (*made)(in.ids).value();
  CHECK(std::memcmp(unmasked.data(), want.data(), sizeof(real) * 42) != 0);
}
