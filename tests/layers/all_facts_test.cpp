// What facts.txt says of layers: names and shapes of parameters, first numbers, refusals.
#include <map>

#include "tests/support/layer_cases.h"
#include "tests/support/layer_facts.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::string in_one_line(std::string lines) {
  std::replace(lines.begin(), lines.end(), '\n', ' ');
  return lines.substr(0, lines.empty() ? 0 : lines.size() - 1);
}

std::string answer_to(const LayerFact& fact) {
  if (fact.word == "error") return config_error_of(fact.layer);
  if (fact.word == "drawn") return text(check_torch_init(fact.layer, std::stoul(fact.argument)));
  const auto layer = layer_of(fact.layer);
  if (fact.word == "parameters") return in_one_line(parameter_lines(*layer));
  const Input in = input_of(fact);
  return error_of([&] { (*layer)(in); });
}

}  // namespace

TEST_CASE("layers: parameters, first numbers and errors are those of facts.txt") {
  std::map<std::string, int> checked;
  for (const LayerFact& fact : layer_facts()) {
    if (fact.word == "examined") continue;  // tests/train/wings/examine/facts_test.cpp
    CAPTURE(fact.place);
    const std::string answer = answer_to(fact);
    CHECK_MESSAGE(answer == fact.says, fact.place, ": ", answer);
    ++checked[fact.word];
  }
  CHECK(checked["parameters"] >= 30);
  CHECK(checked["drawn"] >= 15);
  CHECK(checked["x"] + checked["ids"] >= 30);
  CHECK(checked["error"] >= 90);
}
