#include "layers/wings/recurrent/bahdanau.h"

#include "tests/support/layer_cases.h"
#include "train/wings/examine/testing.h"

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

TEST_CASE("bahdanau: its parts, drawn in the order of construction") {
  const std::string gru =
      "weight_ih_l0 (36, 12)\n#weight_hh_l0 (36, 12)\n#bias_ih_l0 (36,)\n#bias_hh_l0 (36,)\n";
  const auto named = [](std::string lines, const std::string& name) {
    for (size_t at = 0; (at = lines.find('#')) != std::string::npos;) lines.replace(at, 1, name);
    return name + lines;
  };
  std::string decoder = named(gru, "decoder.");
  decoder.replace(decoder.find("(36, 12)"), 8, "(36, 36)");
  CHECK(parameter_lines(*layer_of(aligning)) ==
        "source_emb.weight (9, 12)\n" + named(gru, "encoder.") + named(gru, "encoder_reverse.") +
            "tok_emb.weight (7, 12)\nW_initial.weight (12, 12)\n"
            "cross_att.W_query.weight (12, 12)\ncross_att.W_key.weight (12, 24)\n"
            "cross_att.v.weight (1, 12)\n" +
            decoder + "W_hidden.weight (24, 48)\nout_head.weight (7, 12)\n");
  CHECK(check_torch_init(aligning, 3) > 0);
}

TEST_CASE("bahdanau: values and gradients are those of the paper's sums in PyTorch") {
  CHECK(check_golden("bahdanau") == 2 * 21);
  CHECK(check_golden("bahdanau_unbatched") == 2 * 21);
}

TEST_CASE("bahdanau: all that a layer must satisfy") {
  check_layer(aligning);
  check_layer(aligning.substr(0, aligning.size() - 1) + ", dropout: 0.1}");
}

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
