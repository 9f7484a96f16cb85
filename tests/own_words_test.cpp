// The core has its own words: none of its files says a key of a config that an extra declares, or
// names a type that one registers.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "autograd/base/error.h"
#include "tests/support/source_tree.h"

using namespace heed::testing::layout;

namespace {

bool is_of_extra(const SourceFile& file) { return file.path.find("/extras/") != std::string::npos; }

// The lines without their comments.
SourceFile code_of(SourceFile file) {
  for (std::string& line : file.lines) line.resize(std::min(line.find("//"), line.size()));
  return file;
}

struct OwnWords {
  std::set<std::string> types;
  std::map<std::string, std::string> keys;  // "shards": "train", its section
};

// From the lines HEED_...(Class, "name"), and from f.optional("key", ...) above HEED_KEYS.
void add_words(const SourceFile& file, OwnWords& words) {
  const std::regex registers(R"re(^HEED_([A-Z_]+)\((?:\w+::)*(\w+), "(\w+)")re");
  const std::regex declares(R"re(\bf\.\w+\("(\w+)"|^ +"(\w+)", \w+,)re");
  std::vector<std::string> keys;
  std::smatch found;
  for (const std::string& line : file.lines) {
    if (std::regex_search(line, found, declares)) {
      keys.push_back(found[1].matched ? found[1] : found[2]);
    } else if (line.starts_with("HEED_") && std::regex_search(line, found, registers)) {
      words.types.insert(found[2]);
      for (const std::string& key : keys) {
        if (found[1] == "KEYS") words.keys[key] = found[3];
      }
      keys.clear();
    }
  }
}

}  // namespace

TEST_CASE("layout: the core says no key and names no type of an extra") {
  OwnWords words;
  std::vector<SourceFile> core;
  for (const SourceFile& file : sources()) {
    if (is_of_extra(file)) {
      add_words(code_of(file), words);
    } else {
      core.push_back(code_of(file));
    }
  }
  if (words.types.empty()) {
    MESSAGE("skipped: there are no extras");
    return;
  }
  for (const std::string& type : words.types) {
    const std::string found = joined(places(core, "\\b" + type + "\\b", type));
    CHECK_MESSAGE(found == "", found, " names ", type);
  }
  for (const auto& entry : words.keys) {  // names of parts cannot be captured by Clang 14
    const std::string &key = entry.first, &section = entry.second;
    for (std::string place :
         places(core, "\"" + key + "\"|\\b" + section + "\\." + key + "\\b", key)) {
      // An option of the command line: heed train --weights, heed eval --set train.weights=FILE.
      const bool is_option = key == "weights" && place.starts_with("tools/commands/");
      CHECK_MESSAGE(is_option, place, " says ", section, ".", key);
    }
  }
  if (has_extra("fine_tuning")) CHECK(words.keys["lora"] == "train");
}
