#include "train/extras/sequence_models/layers/classifier.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::string classifier(const std::string& options = "num_layers: 2") {
  return "{type: classifier, vocab_size: 11, num_classes: 3, context_length: 9, d_model: 12, "
         "num_heads: 3, " +
         options + "}";
}

const Ids eight_words = ids({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});

}  // namespace

TEST_CASE("classifier: parameters are those of a gpt, the head has a bias") {
  const std::string lines = parameter_lines(*layer_of(classifier()));
  CHECK(
      lines.starts_with("tok_emb.weight (11, 12)\npos_emb.weight (9, 12)\n"
                        "trf_blocks.0.att.W_query.weight (12, 12)\n"));
  CHECK(lines.ends_with("out_head.weight (3, 12)\nout_head.bias (3,)\n"));
}

TEST_CASE("classifier: without blocks and positions it is a bag of words") {
  const Ids reversed = ids({2, 4}, {3, 2, 1, 0, 7, 6, 5, 4});
  const auto bag = layer_of(classifier("num_layers: 0, position: none"));
  CHECK(check_near((*bag)(eight_words).value(), (*bag)(reversed).value()) == 6);
  const auto sees_order = layer_of(classifier());
  CHECK(std::memcmp((*sees_order)(eight_words).value().data(),
                    (*sees_order)(reversed).value().data(), 6 * sizeof(real)) != 0);
}

TEST_CASE("classifier: pool says which states are looked at") {
  const auto first = layer_of(classifier("num_layers: 0, pool: first"));
  const Ids same_first = ids({2, 4}, {0, 9, 9, 9, 4, 9, 9, 9});
  check_same_bits((*first)(eight_words).value(), (*first)(same_first).value());
}
