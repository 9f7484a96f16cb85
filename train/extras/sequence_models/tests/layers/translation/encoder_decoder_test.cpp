#include "train/extras/sequence_models/layers/encoder_decoder.h"

#include "autograd/base/modes.h"
#include "tests/support/sequence_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::string translator(const std::string& options = "") {
  return "{type: encoder_decoder, source_vocab_size: 9, vocab_size: 7, source_length: 6, "
         "context_length: 5, d_model: 12, num_heads: 3, num_layers: 2" +
         (options.empty() ? "" : ", " + options) + "}";
}

}  // namespace

TEST_CASE("encoder_decoder: attention that is chosen, on both sides and between them") {
  const auto layer = layer_of(
      "{type: encoder_decoder, source_vocab_size: 9, vocab_size: 7, source_length: 6, "
      "context_length: 5, d_model: 12, num_heads: 1, num_layers: 2, attention: {type: "
      "causal_attention}, encoder_attention: {type: multi_head_attention, num_heads: 2}, "
      "cross_attention: {type: cross_attention, num_heads: 3, out_proj: false}}");
  const std::string lines = parameter_lines(*layer);
  CHECK(lines.find("encoder_blocks.1.att.out_proj.weight (12, 12)") != std::string::npos);
  CHECK(lines.find("decoder_blocks.1.att.W_query.weight (12, 12)") != std::string::npos);
  CHECK(lines.find("decoder_blocks.1.att.out_proj") == std::string::npos);
  CHECK(lines.find("decoder_blocks.1.cross_att.W_key.weight (12, 12)") != std::string::npos);
  CHECK(lines.find("decoder_blocks.1.cross_att.out_proj") == std::string::npos);
  CHECK((*layer)(padded_sentences()).shape() == Shape{2, 5, 7});
  Input longest = padded_sentences();  // a source of 6 tokens, more than the decoder's 5
  longest.source_ids = Ids::zeros({2, 6});
  longest.source_mask = {};
  CHECK((*layer)(longest).shape() == Shape{2, 5, 7});
}

TEST_CASE("encoder_decoder: its parts, drawn in the order of construction") {
  const auto layer = layer_of(translator());
  const std::string lines = parameter_lines(*layer);
  CHECK(
      lines.starts_with("source_emb.weight (9, 12)\nsource_pos.weight (6, 12)\n"
                        "encoder_blocks.0.att.W_query.weight (12, 12)\n"));
  for (const char* part :
       {"encoder_norm.scale", "tok_emb.weight (7, 12)", "pos_emb.weight (5, 12)",
        "decoder_blocks.0.att.W_query.weight", "decoder_blocks.0.cross_att.W_query.weight",
        "decoder_blocks.0.norm3.scale", "final_norm.shift"}) {
    CAPTURE(part);
    CHECK(lines.find(part) != std::string::npos);
  }
  CHECK(lines.ends_with("out_head.weight (7, 12)\n"));
  CHECK(layer->signature().ids);
  CHECK(layer->signature().context);
}

TEST_CASE("encoder_decoder: with a mean context the decoder sees one vector") {
  const auto layer = layer_of(translator("context: mean"));
  CHECK(parameter_lines(*layer) == parameter_lines(*layer_of(translator())));
  AttentionRecorder recorder;
  (*layer)(padded_sentences());
  int64_t cross = 0;
  for (const AttentionRecorder::Weights& recorded : recorder.recorded) {
    if (recorded.path.find("cross_att") == std::string::npos) continue;
    CHECK(recorded.weights.shape() == Shape{2, 3, 5, 1});
    ++cross;
  }
  CHECK(cross == 2);
}
