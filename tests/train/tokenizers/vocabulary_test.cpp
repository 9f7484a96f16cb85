// Vocabularies as JSON, which may come from a stranger's run.
#include "train/tokenizers/vocabulary.h"

#include <doctest/doctest.h>

#include "tests/support/near.h"

using namespace heed;
using namespace heed::testing;

// Each key was once compared with all before it: minutes for a megabyte.
TEST_CASE("vocabulary: very many keys are read in their own time") {
  std::string json = "{\"type\": \"char\"";
  while (json.size() < 1'000'000) json += text(", \"key ", json.size(), "\": 1");
  CHECK(vocabulary_from_json(json + ", \"tokens\": [\"a\"]}", "char") ==
        std::vector<std::string>{"a"});
  CHECK(error_of([&] { vocabulary_from_json(json + "}", "char"); }) ==
        "vocabulary.json: expected JSON with a type and tokens");
}
