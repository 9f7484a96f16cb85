#include "layers/extras/recurrent/bahdanau.h"

#include "tests/support/sequence_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::string aligning =
    "{type: bahdanau, source_vocab_size: 9, vocab_size: 7, source_length: 6, context_length: 5, "
    "d_model: 12}";

}  // namespace

TEST_CASE("bahdanau: what attention found for one token reaches the state of the next") {
  const auto layer = layer_of(aligning);
  AttentionRecorder recorder;
  (*layer)(padded_sentences());
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
