#include "layers/wings/recurrent/rnn_encoder_decoder.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::string recurrent_translator(const std::string& options = "") {
  return "{type: rnn_encoder_decoder, source_vocab_size: 9, vocab_size: 7, source_length: 6, "
         "context_length: 5, d_model: 12" +
         (options.empty() ? "" : ", " + options) + "}";
}

const std::vector<std::string> translator_options{"",
                                                  "cell: rnn",
                                                  "attention: additive",
                                                  "attention: dot",
                                                  "cell: rnn, attention: additive, dropout: 0.1",
                                                  "cell: rnn, attention: dot",
                                                  "cell: lstm",
                                                  "cell: lstm, attention: additive",
                                                  "encoder_kernel_size: 3",
                                                  "encoder_kernel_size: 5, cell: lstm",
                                                  "encoder_kernel_size: 3, attention: dot"};

Input padded_sentences() {
  Input in{ids({2, 5}, {0, 1, 2, 3, 4, 5, 6, 0, 1, 2})};
  in.source_ids = ids({2, 4}, {8, 7, 6, 5, 4, 3, 0, 0});
  in.source_mask = mask_of({2, 4}, {1, 1, 1, 1, 1, 1, 0, 0});
  return in;
}

}  // namespace

TEST_CASE("rnn_encoder_decoder: all of the source is seen, through one vector or by attention") {
  for (const std::string& options : translator_options) {
    CAPTURE(options);
    const auto layer = layer_of(recurrent_translator(options));
    layer->train(false);
    const Input in = padded_sentences();
    const Array y = (*layer)(in).value();
    REQUIRE(y.shape() == Shape{2, 5, 7});
    for (const int64_t s : {0, 3}) {
      Input other = in;
      other.source_ids = in.source_ids.clone();
      other.source_ids.mutable_data()[s] = 1;
      const Array changed = (*layer)(other).value();
      CHECK(std::memcmp(changed.data(), y.data(), 35 * sizeof(real)) != 0);
      CHECK(std::memcmp(changed.data() + 35, y.data() + 35, 35 * sizeof(real)) == 0);
    }
  }
}

TEST_CASE("rnn_encoder_decoder: padding of the source changes nothing, whatever stands there") {
  for (const std::string& options : translator_options) {
    CAPTURE(options);
    const auto layer = layer_of(recurrent_translator(options));
    layer->train(false);
    const Input in = padded_sentences();
    const Array y = (*layer)(in).value();
    Input other = in;
    other.source_ids = in.source_ids.clone();
    other.source_ids.mutable_data()[6] = 8;
    other.source_ids.mutable_data()[7] = 5;
    check_same_bits((*layer)(other).value(), y);
    Input shorter{ids({5}, {5, 6, 0, 1, 2})};
    shorter.source_ids = ids({2}, {4, 3});
    const Array alone = (*layer)(shorter).value();
    REQUIRE(alone.shape() == Shape{5, 7});
    CHECK(check_near(alone, Array::from({5, 7}, y.span().subspan(35))) == 35);
  }
}

TEST_CASE("rnn_encoder_decoder: attention is recorded, over the source") {
  for (const std::string& options : translator_options) {
    CAPTURE(options);
    const auto layer = layer_of(recurrent_translator(options));
    AttentionRecorder recorder;
    (*layer)(padded_sentences());
    const bool attends = options.find("attention") != std::string::npos;
    REQUIRE(recorder.recorded.size() == (attends ? 1 : 0));
    if (!attends) continue;
    CHECK(recorder.recorded[0].path == "cross_att");
    const Array weights = recorder.recorded[0].weights;
    REQUIRE(weights.shape() == Shape{2, 1, 5, 4});
    for (int64_t t = 0; t < 5; ++t) CHECK(weights.data()[20 + 4 * t + 3] == 0);  // padding
  }
}
