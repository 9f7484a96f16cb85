// The core has its own words: none of its files says a key of a config that an extra declares, or
// names a type that one registers. And what code outside of heedgrad includes.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "autograd/base/error.h"
#include "tests/support/source_tree.h"

using namespace heed::testing::layout;
namespace fs = std::filesystem;

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

TEST_CASE("layout: code outside includes doors, operations and layers") {
  const std::set<std::string> doors{"heed/heed.h",
                                    "heed/autograd/op.h",
                                    "heed/layers/layer.h",
                                    "heed/train/task.h",
                                    "heed/testing.h",
                                    "heed/train/optimizer.h",
                                    "heed/train/tokenizer.h",
                                    "heed/train/run_hooks.h",
                                    "heed/train/extras/toy_tasks/made_examples.h",
                                    "heed/train/extras/toy_tasks/symbol_task.h"};
  std::vector<std::string> folders{"tests/extension"};
  if (fs::exists(root() / "tools/extras/plugins/new"))
    folders.push_back("tools/extras/plugins/new");
  int64_t seen = 0;
  for (const SourceFile& file : files_in(folders, {".h", ".cpp"})) {
    for (const std::string& line : file.lines) {
      const std::string header = included(line);
      if (!header.starts_with("heed/")) continue;
      const std::string folder = header.substr(0, header.rfind('/'));
      const bool one_thing = folder == "heed/layers" || folder == "heed/autograd/ops";
      CHECK_MESSAGE((one_thing || doors.contains(header)), file.path, " includes ", header);
      const bool made = header == "heed/heed.h" || header == "heed/testing.h";  // by the build
      const bool of_extra_not_here = header.find("/extras/") != std::string::npos &&
                                     !fs::exists(root() / header.substr(5, header.rfind('/') - 5));
      CHECK_MESSAGE((made || of_extra_not_here || fs::exists(root() / header.substr(5))), header);
      ++seen;
    }
  }
  CHECK(seen > 25);
}
