// The words of other tools. What is said about them: messages/configs.yaml and configs.txt.
#include "tools/extras/configs/train/other_tools.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "layers/config/types.h"
#include "tests/support/source_tree.h"
#include "train/config/run_config.h"

using namespace heed;
using namespace heed::testing;

namespace {

using Place = std::pair<std::string, std::string>;  // type or section, field

void add_fields(const std::string& owner, const std::vector<FieldInfo>& fields,
                std::set<Place>& all) {
  for (const FieldInfo& field : fields) {
    all.insert({owner, field.name});
    all.insert({"", field.name});
    add_fields(field.name, field.group, all);
  }
}

bool has_every_owner() {
  const std::vector<std::string> extras{"alternatives", "bpe",       "fine_tuning",
                                        "own_data",     "recurrent", "sequence_models"};
  return std::all_of(extras.begin(), extras.end(), layout::has_extra);
}

}  // namespace

TEST_CASE("other tools: every word is for a field that exists") {
  std::set<Place> known;
  add_fields("", run_fields(), known);
  for (const char* kind : {"layer", "task", "tokenizer", "optimizer", "schedule", "adapter"}) {
    fill_types(kind);
    for (const auto& [name, type] : config_types(kind)) add_fields(name, type.fields(), known);
  }
  std::string unknown;
  for (const Place& place : OtherTools::fields()) {
    if (!known.contains(place)) unknown += place.first + "." + place.second + " ";
  }
  CHECK_MESSAGE((unknown.empty() || !has_every_owner()), unknown);
  CHECK(OtherTools::fields().size() > 150);
}

TEST_CASE("other tools: this build has the table") {
  CHECK(other_words().is_value("swish", "silu"));
  CHECK_FALSE(other_words().is_value("swish", "gelu"));
  CHECK(other_words().of_field("conv1d", "d_in").size() == 1);
  CHECK(other_words().of_field("linear", "d_in").empty());
  CHECK(other_words().about_key("cuda") == "heed computes on the CPU: leave it out");
}
