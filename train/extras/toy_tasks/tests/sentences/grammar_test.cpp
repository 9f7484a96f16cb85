#include "train/extras/toy_tasks/grammar.h"

#include <doctest/doctest.h>

using namespace heed;

TEST_CASE("grammar: lists of words") {
  CHECK(words_of({{"the film", "", "a"}, {"film a", "b"}}) ==
        std::vector<std::string>{"the", "film", "a", "b"});
  CHECK(different_words({"b", "a", "b"}) == std::vector<std::string>{"b", "a"});
}
