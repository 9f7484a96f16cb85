// What facts.txt says of layers: names and shapes of parameters, first numbers, refusals.
#include <map>

#include "tests/support/layer_cases.h"
#include "tests/support/layer_facts.h"
#include "tests/support/seed_numbers.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::string in_one_line(std::string lines) {
  std::replace(lines.begin(), lines.end(), '\n', ' ');
  return lines.substr(0, lines.empty() ? 0 : lines.size() - 1);
}

// For seed 123, of the six words of the documents, twice unless the numbers are of a single one.
int64_t numbers_of_documents(Module& layer, const std::string& key) {
  const Array x = key == "self_attention_v1" ? seed_inputs() : seed_batch();
  return check_seed_numbers(key, layer(Tensor(x)).value());
}

std::string answer_to(const LayerFact& fact) {
  if (fact.word == "error") return config_error_of(fact.layer);
  if (fact.word == "count") {
    const DryRun dry;
    return text(layer_of(fact.layer)->parameter_count());
  }
  if (fact.word == "drawn") return text(check_torch_init(fact.layer, std::stoul(fact.argument)));
  const auto layer = layer_of(fact.layer);
  if (fact.word == "documents") return text(numbers_of_documents(*layer, fact.argument));
  if (fact.word == "parameters") return in_one_line(parameter_lines(*layer));
  const Input in = input_of(fact);
  return message_of<ShapeError>([&] { (*layer)(in); });
}

}  // namespace

TEST_CASE("layers: parameters, first numbers and errors are those of facts.txt") {
  std::map<std::string, int> checked;
  for (const LayerFact& fact : layer_facts()) {
    if (fact.word == "examined") continue;  // tools/extras/checks/tests/examine/facts_test.cpp
    CAPTURE(fact.place);
    const std::string answer = answer_to(fact);
    CHECK_MESSAGE(answer == fact.says, fact.place, ": ", answer);
    ++checked[fact.word];
  }
  // Those of the core; extras have more.
  CHECK(checked["documents"] == 4);
  CHECK(checked["parameters"] >= 36);
  CHECK(checked["drawn"] >= 15);
  CHECK(checked["x"] + checked["ids"] >= 31);
  CHECK(checked["error"] >= 93);
}
