// heed data of the configs that are shipped. What it prints: tests/transcripts/data.txt.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/run_program.h"
#include "tests/support/source_tree.h"

using namespace heed::testing;
namespace fs = std::filesystem;

TEST_CASE("heed data: every config that is shipped") {
  int64_t seen = 0;
  for (const fs::path& config : layout::shipped_configs()) {
    CAPTURE(config);
    const nlohmann::json data = nlohmann::json::parse(
        succeeded({"data", config.string(), "--json", "--examples", "1"}).out);
    CHECK(data.at("train_examples").get<int64_t>() + data.at("val_examples").get<int64_t>() > 0);
    CHECK(!data.at("examples").empty());
    ++seen;
  }
  CHECK(seen >= 15);
}
