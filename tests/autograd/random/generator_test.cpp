#include "autograd/random/generator.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "autograd/base/error.h"

namespace heed {
namespace {

TEST_CASE("generator: words are those of std::mt19937, one by one and in bulk") {
  std::mt19937 reference(2024);
  Generator single(2024);
  Generator bulk((uint64_t{7} << 32) | 2024);  // only the low 32 bits of a seed count
  Generator skipping(2024);
  int64_t compared = 0;
  for (const int n : {1, 7, 8, 623, 1, 624, 625, 31, 2000, 0, 127}) {
    std::vector<uint32_t> words(static_cast<size_t>(n));
    bulk.words(words);
    skipping.skip(words.size());
    for (const uint32_t word : words) {
      const auto expected = static_cast<uint32_t>(reference());
      REQUIRE(word == expected);
      REQUIRE(single.random32() == expected);
      ++compared;
    }
  }
  CHECK(compared == 4047);
  CHECK(single.state() == bulk.state());
  CHECK(skipping.state() == bulk.state());
  skipping.skip(3);
  for (int i = 0; i < 3; ++i) single.random32();
  CHECK(skipping.random32() == single.random32());
}

TEST_CASE("generator: refusals") {
  Generator g(1);
  const GeneratorState before = g.state();
  GeneratorState bad = before;
  bad.index = 625;
  CHECK_THROWS_WITH_AS(g.set_state(bad), "generator state: the index must be at most 624, got 625",
                       ConfigError);
  bad = GeneratorState{};
  CHECK_THROWS_WITH_AS(g.set_state(bad),
                       "generator state: all 624 words are zero, which no seed leads to",
                       ConfigError);
  bad = before;
  bad.cached_normal = std::nan("");
  CHECK_THROWS_WITH_AS(g.set_state(bad), "generator state: the cached normal is not finite",
                       ConfigError);
  CHECK(g.state() == before);
}

}  // namespace
}  // namespace heed
