#include "train/extras/sequence_models/layers/decoder_block.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("decoder_block: three branches beside shortcuts, each behind its norm") {
  DecoderBlock layer({{.d_model = 12, .context_length = 9, .num_heads = 3}});
  perturb_parameters(layer);
  Input in{Tensor(values({2, 9, 12}))};
  in.context = Tensor(values({2, 4, 12}, -1, 1, 4));
  in.mask = Mask::full({2, 4}, 1);
  in.mask.mutable_data()[1] = 0;
  const Tensor attended = in.x + layer.att(layer.norm1(in.x));
  const Tensor looked = attended + layer.cross_att(in.with(layer.norm2(attended)));
  const Array want = (looked + (*layer.ff)((*layer.norm3)(looked))).value();
  CHECK(check_near(layer(in).value(), want) == want.size());
}

TEST_CASE("decoder_block: attention alone, with feed_forward none") {
  DecoderBlock decoder(
      {{.d_model = 12, .context_length = 9, .num_heads = 3, .feed_forward = "none"}});
  CHECK(decoder.children().size() == 5);  // att, cross_att, norm1, norm2, drop_shortcut
}
