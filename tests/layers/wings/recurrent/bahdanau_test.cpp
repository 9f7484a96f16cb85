#include "layers/wings/recurrent/bahdanau.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::string aligning =
    "{type: bahdanau, source_vocab_size: 9, vocab_size: 7, source_length: 6, context_length: 5, "
    "d_model: 12}";

Input two_sentences() {
  Input in{ids({2, 5}, {0, 1, 2, 3, 4, 5, 6, 0, 1, 2})};
  in.source_ids = ids({2, 4}, {8, 7, 6, 5, 4, 3, 0, 0});
  in.source_mask = mask_of({2, 4}, {1, 1, 1, 1, 1, 1, 0, 0});
  return in;
}

}  // namespace

TEST_CASE("bahdanau: padding of the source changes nothing, whatever stands there") {
  const auto layer = layer_of(aligning);
  const Input in = two_sentences();
  const Array y = (*layer)(in).value();
  REQUIRE(y.shape() == Shape{2, 5, 7});
  Input other = in;
  other.source_ids = in.source_ids.clone();
  other.source_ids.mutable_data()[6] = 8;
  other.source_ids.mutable_data()[7] = 5;
  check_same_bits((*layer)(other).value(), y);
  Input alone{ids({5}, {5, 6, 0, 1, 2})};
  alone.source_ids = ids({2}, {4, 3});
  check_near((*layer)(alone).value(), Array::from({5, 7}, y.span().subspan(35)));
}

TEST_CASE("bahdanau: what attention found for one token reaches the state of the next") {
  const auto layer = layer_of(aligning);
  AttentionRecorder recorder;
  (*layer)(two_sentences());
  REQUIRE(recorder.recorded.size() == 1);  // one map, not one for each token
  CHECK(recorder.recorded[0].path == "cross_att");
  const Array weights = recorder.recorded[0].weights;
  REQUIRE(weights.shape() == Shape{2, 1, 5, 4});
  for (int64_t t = 0; t < 5; ++t) {
    const real* row = weights.data() + 4 * t;
    CHECK(row[0] + row[1] + row[2] + row[3] == doctest::Approx(1));
    CHECK(row[20 + 3] == 0);  // padding
  }
  // Of one token the decoder's own weights take no part: output t reads the state before it.
  Input one{ids({1}, {3})};
  one.source_ids = ids({2}, {4, 3});
  const Array before = (*layer)(one).value();
  {
    const NoGrad off;
    for (NamedParameter& p : layer->parameters()) {
      if (p.name.starts_with("decoder.")) {
        std::fill_n(p.tensor.mutable_value(), p.tensor.size(), real{1});
      }
    }
  }
  check_same_bits((*layer)(one).value(), before);
}
