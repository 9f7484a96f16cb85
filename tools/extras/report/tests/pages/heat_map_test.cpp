// Heat maps on a terminal: every row and name takes the columns that it should.
#include "tools/extras/report/pages/heat_map.h"

#include <doctest/doctest.h>

#include "layers/text/display.h"
#include "tests/support/run_program.h"

using namespace heed;
using namespace heed::cli;
using heed::testing::lines_of;

namespace {

const std::vector<std::string> chinese = {"\xE4\xB8\xAD", "a", "\xF0\x9F\x98\x80", "\xE6\x96\x87"};

// Every token attends to itself only.
AttentionMap diagonal(const std::vector<std::string>& names, int64_t heads) {
  const auto n = static_cast<int64_t>(names.size());
  AttentionMap map{"trf_blocks.0.att", false, names, names, Array::zeros({heads, n, n})};
  for (int64_t h = 0; h < heads; ++h) {
    for (int64_t t = 0; t < n; ++t) map.weights.mutable_data()[(h * n + t) * n + t] = 1;
  }
  return map;
}

// The column in which `part` begins.
size_t column_of(const std::string& line, const std::string& part, size_t from = 0) {
  const size_t at = line.find(part, from);
  REQUIRE_MESSAGE(at != std::string::npos, part, " in ", line);
  return display_width(line.substr(0, at));
}

}  // namespace

TEST_CASE("heat map: cells of wide and narrow tokens stand below their names") {
  const std::vector<std::string> lines = lines_of(heat_map_text(diagonal(chinese, 2), {}));
  REQUIRE(lines.size() == 2 + 1 + 4);
  CHECK(lines[0] == "trf_blocks.0.att: rows look at columns");
  for (size_t t = 0; t < chinese.size(); ++t) {
    const std::string& row = lines[3 + t];
    CHECK(row.starts_with(chinese[t]));
    const size_t below = column_of(lines[2], chinese[t]);
    CHECK(column_of(row, "@@") == below);
    // The second head, to the right.
    const size_t second = lines[2].find(chinese[t]) + 1;
    CHECK(column_of(row, "@@", row.find("@@") + 2) == column_of(lines[2], chinese[t], second));
  }
}

TEST_CASE("heat map: vertical names of words of wide characters and marks") {
  const std::vector<std::string> words = {"\xE4\xB8\xAD\xE6\x96\x87", "e\xCC\x81x", "ab"};
  const std::vector<std::string> lines = lines_of(heat_map_text(diagonal(words, 1), {}));
  REQUIRE(lines.size() == 2 + 2 + 3);
  CHECK(lines[2] ==
        "     \xE4\xB8\xAD"
        "e\xCC\x81 a");
  CHECK(lines[3] ==
        "     \xE6\x96\x87"
        "x b");
  for (size_t t = 0; t < words.size(); ++t) CHECK(column_of(lines[4 + t], "@@") == 5 + 2 * t);
}

TEST_CASE("heat map: a tall one has the keys' names below it too") {
  std::vector<std::string> names(21, "xy");
  names.back() = "abc";
  const std::vector<std::string> lines = lines_of(heat_map_text(diagonal(names, 1), {}));
  REQUIRE(lines.size() == 2 + 3 + 21 + 3);
  CHECK(column_of(lines[2], "a") == column_of(lines[26], "a"));
  CHECK(column_of(lines[3], "x") == column_of(lines[26], "x"));
  CHECK(column_of(lines[4], "c") == column_of(lines[28], "c"));
}

TEST_CASE("heat map: in colour, two queries of a tall one share a line") {
  const std::vector<std::string> names{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k",
                                       "l", "m", "n", "o", "p", "q", "r", "s", "t", "u"};
  AttentionMap map = diagonal(names, 1);
  map.weights.mutable_data()[20] = real(1e-9);  // of no causal layer
  const std::vector<std::string> lines = lines_of(heat_map_text(map, {.color = true}));
  REQUIRE(lines.size() == 3 + 1 + 11 + 1);
  CHECK(lines[1] == "a line has two rows, in the upper and the lower half of its cells");
  CHECK(lines[4].starts_with("a b \x1b["));
  CHECK(lines[14].starts_with("u   \x1b["));  // the last has no second
  const std::string light = std::to_string(heat_color(0)), dark = std::to_string(heat_color(1));
  const auto halves = [](const std::string& upper, const std::string& lower) {
    return "\x1b[38;5;" + upper + (lower.empty() ? "" : ";48;5;" + lower) + "m▀▀\x1b[0m";
  };
  // Query a looks at key a, query b at key b.
  CHECK(lines[4].find("b " + halves(dark, light) + halves(light, dark) + halves(light, light)) !=
        std::string::npos);
  CHECK(lines[14].ends_with(halves(light, "") + halves(dark, "")));
  CHECK(lines_of(heat_map_text(map, {})).size() == 2 + 1 + 21 + 1);  // without colour: each its own
}

TEST_CASE("heat map: one head of several, counted from 0") {
  const AttentionMap map = diagonal({"a", "b"}, 3);
  const std::string all = heat_map_text(map, {}), one = heat_map_text(map, {}, 1);
  for (const char* head : {"head 0", "head 1", "head 2"}) {
    CHECK(all.find(head) != std::string::npos);
    CHECK((one.find(head) != std::string::npos) == (std::string(head) == "head 1"));
  }
  CHECK(all.find("head 3") == std::string::npos);
  CHECK(lines_of(one).size() == 5);
}

TEST_CASE("heat map: a causal layer is hatched where the future is, which is not weight 0") {
  AttentionMap map = diagonal({"a", "b", "c"}, 2);
  CHECK(is_causal(map));
  std::vector<std::string> lines = lines_of(heat_map_text(map, {}, 1));
  CHECK(lines[3] == "a @@╱╱╱╱");
  CHECK(lines[4] == "b   @@╱╱");
  CHECK(lines[5] == "c     @@");
  lines = lines_of(heat_map_text(map, {.color = true}, 1));
  CHECK(lines[3] == "a \x1b[48;5;232m  \x1b[0m\x1b[38;5;245m╱╱\x1b[0m\x1b[38;5;245m╱╱\x1b[0m");
  CHECK(lines[4].starts_with("b \x1b[48;5;255m  \x1b[0m"));
  CHECK(heat_map_scale({}, true).ends_with("] 1; ╱ is later and hidden\n"));
  CHECK(heat_map_scale({}, false).ends_with("] 1\n"));
  CHECK(heat_map_scale({.color = true}, false).ends_with("] 1, darker is more\n"));

  map.weights.mutable_data()[1 * 9 + 1] = real(1e-9);  // of head 1: token a sees token b
  CHECK(!is_causal(map));
  CHECK(lines_of(heat_map_text(map, {}, 0))[3] == "a @@");
  map = diagonal({"a", "b", "c"}, 1);
  map.cross = true;
  CHECK(!is_causal(map));
}

TEST_CASE("heat map: in colour, the future of two rows in one line") {
  const std::vector<std::string> names{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k",
                                       "l", "m", "n", "o", "p", "q", "r", "s", "t", "u"};
  const std::string first = lines_of(heat_map_text(diagonal(names, 1), {.color = true}))[4];
  // Query a sees itself alone, query b both; neither sees c.
  CHECK(
      first.starts_with("a b \x1b[38;5;232;48;5;255m▀▀\x1b[0m\x1b[38;5;232m▄▄\x1b[0m"
                        "\x1b[38;5;245m╱╱\x1b[0m"));
}
