#include "train/extras/sequence_models/layers/encoder.h"

#include "layers/config/describe.h"
#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::string sizes = "context_length: 8, d_model: 12, num_heads: 3, num_layers: 2";

std::string encoder(const std::string& options = "") {
  return text("{type: encoder, ", sizes, options, "}");
}

const std::string pictures = ", patch_size: 2, image_height: 4, image_width: 6";

}  // namespace

TEST_CASE("encoder: the parameters of a classifier, so the weights of one fit the other") {
  const std::string classifier = parameter_lines(
      *layer_of(text("{type: classifier, vocab_size: 11, num_classes: 3, ", sizes, "}")));
  const std::string masked = parameter_lines(*layer_of(encoder(", vocab_size: 11")));
  const size_t head = masked.find("out_head");
  CHECK(masked.substr(0, head) == classifier.substr(0, head));
  CHECK(masked.substr(head) == "out_head.weight (11, 12)\nout_head.bias (11,)\n");
  CHECK(parameter_lines(*layer_of(encoder(", vocab_size: 11, num_classes: 3"))) == classifier);
  const std::string plain = parameter_lines(*layer_of(encoder()));
  CHECK(plain == masked.substr(masked.find("pos_emb"), head - masked.find("pos_emb")));
  CHECK(parameter_lines(*layer_of(encoder(pictures))) ==
        plain + "patch_emb.weight (12, 1, 2, 2)\npatch_emb.bias (12,)\n");
}

TEST_CASE("encoder: every token sees the ones before it and after it") {
  const auto layer = layer_of(encoder(", vocab_size: 11"));
  const Array y = (*layer)(ids({5}, {1, 2, 3, 4, 5})).value();
  REQUIRE(y.shape() == Shape{5, 11});
  for (const Ids& other : {ids({5}, {9, 2, 3, 4, 5}), ids({5}, {1, 2, 3, 4, 9})}) {
    const Array changed = (*layer)(other).value();
    for (int64_t t = 0; t < 5; ++t) {
      CHECK(!std::equal(y.data() + 11 * t, y.data() + 11 * (t + 1), changed.data() + 11 * t));
    }
  }
}

TEST_CASE("encoder: of ids and classes it is a classifier, bit for bit") {
  const auto ours = layer_of(encoder(", vocab_size: 11, num_classes: 3"));
  const auto theirs =
      layer_of(text("{type: classifier, vocab_size: 11, num_classes: 3, ", sizes, "}"));
  const Input in = input_for(*theirs, {2, 7});
  CHECK(check_same_bits(run(*ours, in), run(*theirs, in)) == 33);
}

TEST_CASE("encoder: a config with all its defaults written out is the same") {
  for (const std::string& options : {std::string(), std::string(", vocab_size: 5"), pictures}) {
    const ConfigNode all =
        write_struct(layer_registry().choice_of(*layer_of(encoder(options))).config());
    CHECK(write_struct(read_options("layer", "encoder", all).config()) == all);
    CHECK(all.has("patch_size"));
  }
}
