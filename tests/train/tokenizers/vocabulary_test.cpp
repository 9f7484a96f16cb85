// Vocabularies as JSON, which may come from a stranger's run.
#include "train/tokenizers/vocabulary.h"

#include <doctest/doctest.h>

#include "tests/support/broken_files.h"
#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

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

TEST_CASE("vocabulary: what is said about each broken file") {
  CHECK(check_broken("vocabulary.txt", [](const BrokenFile& broken) {
          return spaced(vocabulary_from_json(broken.content, "words"));
        }) == 6);
}

TEST_CASE("vocabulary: a damaged file is named with its folder") {
  const TempDir folder;
  write_text(folder / "vocabulary.json", "{\"type\": \"char\"}");
  CHECK(error_of([&] { read_vocabulary(folder.path(), stored_vocabulary); }) ==
        (folder / "vocabulary.json").string() + ": expected JSON with a type and tokens");
  write_text(folder / "vocabulary.json", "");
  CHECK_THROWS_AS(read_vocabulary(folder.path(), stored_vocabulary), IoError);
  write_text(folder / "vocabulary.json", vocabulary_to_json("char", {"a", "b"}));
  CHECK(read_vocabulary(folder.path(), stored_vocabulary) ==
        vocabulary_to_json("char", {"a", "b"}));
  CHECK(read_vocabulary(folder.path(), stored_classes).empty());
  CHECK(read_vocabulary("", stored_vocabulary).empty());
}
