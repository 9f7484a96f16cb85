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

TEST_CASE("decoder_block: the future of x changes no bit of the past, the context all of it") {
  DecoderBlock layer({{.d_model = 12, .context_length = 9, .num_heads = 3}});
  CHECK(layer.signature().causal);
  Input in{Tensor(values({1, 9, 12}))};
  in.context = Tensor(values({1, 4, 12}, -1, 1, 4));
  const Array y = layer(in).value().reshaped({9, 12});
  Array x = in.x.value().clone();
  for (int64_t i = 5 * 12; i < x.size(); ++i) x.mutable_data()[i] *= real(-1.75);
  const Array other = layer(in.with(Tensor(x))).value().reshaped({9, 12});
  check_same_bits(rows_between(other, 0, 5), rows_between(y, 0, 5));
  CHECK(std::memcmp(other.data() + 60, y.data() + 60, 48 * sizeof(real)) != 0);
  in.context = Tensor(values({1, 4, 12}, -1, 1, 5));
  CHECK(std::memcmp(layer(in).value().data(), y.data(), 12 * sizeof(real)) != 0);
}

TEST_CASE("decoder_block: no gradient of a token flows into the tokens after it") {
  DecoderBlock layer({{.d_model = 12, .context_length = 9, .num_heads = 3, .dropout = 0.2}});
  Input in{Tensor(values({1, 6, 12}))};
  in.context = Tensor(values({1, 4, 12}, -1, 1, 4));
  Array dy = Array::zeros({1, 6, 12});
  std::fill_n(dy.mutable_data() + 2 * 12, 12, real{1});
  const Results results = run(layer, in, dy);
  const auto future = results.at("x").span().subspan(3 * 12);
  CHECK(std::all_of(future.begin(), future.end(), [](real v) { return v == 0; }));
  const auto context = results.at("context").span();
  CHECK(std::any_of(context.begin(), context.end(), [](real v) { return v != 0; }));
}

TEST_CASE("decoder_block: attention alone, with feed_forward none") {
  DecoderBlock decoder(
      {{.d_model = 12, .context_length = 9, .num_heads = 3, .feed_forward = "none"}});
  CHECK(decoder.children().size() == 5);  // att, cross_att, norm1, norm2, drop_shortcut
}
