// Files with mistakes in them: what is said about each.
#include "tools/extras/own_data/tests/own_data_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("own data: what is said about each broken file, and nothing is left behind") {
  CHECK(check_own_data("labelled.txt", "labelled", small_classifier,
                       {{"a.tsv", "one two three\tpos\nfour five six\tneg\n"},
                        {"v.tsv", "fine\tpos\nodd\tneutral\n"}}) == 65);
}

TEST_CASE("own data: the mistakes of a file come with those of the config") {
  const OwnFiles files;
  files.write("a.tsv", "one two three\tpos\nfour five six\tneg\n");
  CHECK(contains(error_of([&] { files.task("{type: labelled, path: a.tsv}", 9); }),
                 "; lower train.batch_size"));
  files.write("bad.tsv", "no tab\n");
  const std::string both =
      files.loaded("{type: labelled, path: bad.tsv}",
                   "{type: classifier, d_modle: 8, num_heads: 2, num_layers: 1}");
  CHECK(contains(both, "bad.tsv:1: expected a tab"));
  CHECK(contains(both, "d_modle: unknown key"));
}
