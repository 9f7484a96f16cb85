// The attention maps of a classifier of sentences.
#include "tools/extras/report/tests/pages/attention_map_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("attention maps: a sentence begins with its class token and has no padding") {
  const Looked words = untrained(
      "data: {type: negation}\n"
      "sample: {prompt: \"shabby\"}\n"
      "model: {type: classifier, d_model: 8, num_heads: 2, num_layers: 1}");
  const std::vector<AttentionMap> sentence = maps_of(words, exhibit_of(words).shown);
  REQUIRE(sentence.size() == 1);
  CHECK(sentence[0].queries[0] == "<class>");
  CHECK(sentence[0].queries.back() != "<class>");  // which is also what pads
  check_map(sentence[0]);
}

TEST_CASE("attention maps: a bag of words has none") {
  const Looked bag = untrained(
      "data: {type: negation}\n"
      "model: {type: classifier, d_model: 8, num_layers: 0, position: none}");
  CHECK(maps_of(bag, exhibit_of(bag).shown).empty());
}
