#include "tools/commands/score_tables.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <optional>

using namespace heed;
using namespace heed::cli;

namespace {

ScoreTable of_two_classes() {
  return {"by_class",
          {{"class", "class"}, {"examples", "examples"}, {"found", "recall"}},
          {{"b\x1b", 12, std::optional(0.5)}, {"longer", 0, std::optional<double>()}}};
}

}  // namespace

TEST_CASE("score tables: names to the left, counts and shares to the right") {
  CHECK(table_text(of_two_classes()) ==
        "class   examples   found\n"
        "b\\x1b         12  50.00%\n"
        "longer         0\n");
}

TEST_CASE("score tables: a single row is not printed, a program gets it") {
  ScoreTable one = of_two_classes();
  one.rows.pop_back();
  CHECK(table_text(one) == "");
  CHECK(table_json<nlohmann::ordered_json>(one).size() == 1);
  one.rows.clear();
  CHECK(table_text(one) == "");
  CHECK(table_json<nlohmann::ordered_json>(one).dump() == "[]");
}

TEST_CASE("score tables: as JSON under their keys, null for a share of nothing") {
  CHECK(table_json<nlohmann::ordered_json>(of_two_classes()).dump() ==
        R"([{"class":"b\u001b","examples":12,"recall":0.5},)"
        R"({"class":"longer","examples":0,"recall":null}])");
}
