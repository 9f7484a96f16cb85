// heed layers knows all that is registered. What it says of one: tests/transcripts/layers.txt.
#include <doctest/doctest.h>

#include "layers/module/registry.h"
#include "tests/support/training_run.h"
#include "train/config/run_config.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("heed layers: lists everything that is registered") {
  const ProgramResult result = run_heed({"layers"});
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  const std::string section = result.out.substr(0, result.out.find("Tasks (data)"));
  int layers = 0;
  for (const std::string& name : layer_registry().types().names()) {
    CHECK_MESSAGE(lines_with(section, "  " + name + " ") == 1, name);
    ++layers;
  }
  CHECK(layers >= 20);
  for (const char* title : {"Sections", "Layers", "Tasks (data)", "Optimizers", "Schedules"}) {
    CHECK(lines_with(result.out, title) == 1);
  }
}

TEST_CASE("heed layers: every section, and what its fields are called elsewhere") {
  const std::string all = run_heed({"layers"}).out;
  int sections = 0;
  for (const FieldInfo& section : run_fields()) {
    CHECK_MESSAGE(lines_with(all, "  " + section.name + " ") == 1, section.name);
    const ProgramResult one = run_heed({"layers", section.name});
    CHECK(one.exit_code == 0);
    CHECK(lines_with(one.out, section.name + " (section): " + section.help) == 1);
    for (const FieldInfo& field : section.group) {
      CHECK_MESSAGE(lines_with(one.out, "  " + field.name + " ") == 1, field.name);
    }
    ++sections;
  }
  CHECK(sections >= 14);
}
