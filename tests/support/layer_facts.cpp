#include "tests/support/layer_facts.h"

#include <filesystem>
#include <map>
#include <sstream>

#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "tests/support/source_tree.h"

namespace heed::testing {

namespace {

namespace fs = std::filesystem;

using Names = std::map<std::string, std::string, std::greater<>>;  // of two, the longer one first

std::string filled_in(std::string line, const Names& names) {
  for (const auto& [name, meaning] : names) {
    for (size_t at; (at = line.find(name)) != std::string::npos;) {
      line.replace(at, name.size(), meaning);
    }
  }
  return line;
}

LayerFact fact_of(const std::string& place, const std::string& layer, const std::string& line) {
  const size_t colon = line.find(":"), blank = line.find(' ', 2);
  REQUIRE_MESSAGE(colon != std::string::npos, place);
  const size_t end = std::min(colon, blank);
  LayerFact fact{place, layer, line.substr(2, end - 2), "",
                 line.substr(std::min(colon + 2, line.size()))};
  if (blank < colon) fact.argument = line.substr(blank + 1, colon - blank - 1);
  return fact;
}

void read_facts(const fs::path& file, std::vector<LayerFact>& facts) {
  std::istringstream lines(read_text(file));
  std::string layer, line;
  Names names;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string place = text(file.string(), ":", number);
    const size_t equals = line.starts_with("$") ? line.find(" = ") : 0;
    const std::string name = line.substr(0, equals);
    line = filled_in(line.substr(equals), names);
    if (equals > 0) {
      names[name] = line.substr(3);
    } else if (line.starts_with("{")) {
      layer = line;
    } else if (line.starts_with("    ")) {
      facts.back().says += line.substr(3);
    } else if (line.starts_with("  ")) {
      LayerFact fact = fact_of(place, layer, line);
      const bool more = !facts.empty() && facts.back().layer == layer &&
                        facts.back().word == fact.word && facts.back().argument == fact.argument;
      if (more) {
        facts.back().says += "\n" + fact.says;
      } else {
        facts.push_back(std::move(fact));
      }
    } else {
      REQUIRE_MESSAGE((line.empty() || line.starts_with("#")), place);
    }
  }
}

// "(2, 5) 0 7" after a word: the shape, and the numbers if there are any.
struct Given {
  Shape shape;
  std::vector<int32_t> numbers;
};

Given given_as(const std::string& words) {
  Given given{shapes_in(words).at(0), {}};
  std::istringstream numbers(words.substr(words.find(')') + 1));
  for (int32_t number = 0; numbers >> number;) given.numbers.push_back(number);
  return given;
}

Ids ids_of(const Given& given) {
  return given.numbers.empty() ? Ids::zeros(given.shape) : Ids::from(given.shape, given.numbers);
}

}  // namespace

std::vector<LayerFact> layer_facts() {
  const fs::path folder = layout::root() / "tests/layers";
  std::vector<LayerFact> facts;
  read_facts(folder / "facts.txt", facts);
  for (const std::string& extra : layout::built_extras()) {
    for (const fs::directory_entry& file :
         fs::recursive_directory_iterator(layout::folder_of_extra(extra))) {
      if (file.path().filename() == "facts.txt") read_facts(file, facts);
    }
  }
  return facts;
}

std::vector<Shape> shapes_in(const std::string& words) {
  std::vector<Shape> shapes;
  for (size_t at = words.find('('); at != std::string::npos; at = words.find('(', at + 1)) {
    std::vector<int64_t> sizes;
    std::istringstream numbers(words.substr(at + 1, words.find(')', at) - at - 1));
    for (std::string number; std::getline(numbers, number, ',');) {
      if (number.find_first_not_of(' ') != std::string::npos) sizes.push_back(std::stoll(number));
    }
    shapes.emplace_back(sizes);
  }
  return shapes;
}

Input input_of(const LayerFact& fact) {
  Input in;
  const std::string all = fact.word + " " + fact.argument;
  for (size_t at = 0; at < all.size();) {
    const size_t blank = all.find(' ', at);
    const size_t next = std::min(all.find_first_of("cimsx", blank), all.size());  // another word
    const std::string name = all.substr(at, blank - at);
    const Given given = given_as(all.substr(blank, next - blank));
    if (name == "x") in.x = Tensor(values(given.shape));
    if (name == "ids") in.ids = ids_of(given);
    if (name == "mask") in.mask = Mask::full(given.shape, 1);
    if (name == "context") in.context = Tensor(values(given.shape));
    if (name == "source_ids") in.source_ids = ids_of(given);
    if (name == "source_mask") in.source_mask = Mask::full(given.shape, 1);
    at = next;
  }
  return in;
}

}  // namespace heed::testing
