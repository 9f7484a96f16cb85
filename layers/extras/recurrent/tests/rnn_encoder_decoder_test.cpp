#include "layers/extras/recurrent/rnn_encoder_decoder.h"

#include "tests/support/sequence_cases.h"

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
