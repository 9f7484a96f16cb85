// The rules of the layout about folders: which may include which, how large one is, where a header
// and its source lie, and what code outside of heedgrad includes.
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "autograd/base/error.h"
#include "tests/support/source_tree.h"

using namespace heed::testing::layout;
namespace fs = std::filesystem;

namespace {

// What the files of a folder may include besides their own folder. "autograd/*" allows autograd/
// and all folders below it. Includes run one way: autograd <- layers <- train <- tools, and within
// these as the rows say. A folder without a row may include nothing else. Folders of extras have
// none: they may include the core of their floor and below, and the extras that they need.
const std::map<std::string, std::vector<std::string>> arrows{
    {"autograd",
     {"autograd/base", "autograd/threads", "autograd/array", "autograd/random", "autograd/graph",
      "autograd/kernels"}},
    {"autograd/threads", {"autograd/base"}},
    {"autograd/array", {"autograd/base", "autograd/threads"}},
    {"autograd/random", {"autograd/base", "autograd/array", "autograd/kernels/simd"}},
    {"autograd/kernels",
     {"autograd/base", "autograd/threads", "autograd/array", "autograd/random"}},
    {"autograd/kernels/simd", {"autograd/base", "autograd/kernels"}},
    {"autograd/kernels/gemm", {"autograd/kernels", "autograd/kernels/simd"}},
    {"autograd/kernels/attention",
     {"autograd/threads", "autograd/kernels", "autograd/kernels/simd", "autograd/kernels/gemm"}},
    {"autograd/graph", {"autograd/base", "autograd/threads", "autograd/array", "autograd/kernels"}},
    {"autograd/ops", {"autograd/*"}},

    {"layers/config", {"autograd/base", "layers/text"}},
    {"layers/module", {"autograd/*", "layers/config"}},
    {"layers", {"autograd/*", "layers/config", "layers/module"}},

    {"train/files", {"autograd/*", "layers/text"}},
    {"train/optim", {"autograd/*", "layers/config", "layers/module", "train/data"}},
    {"train/tokenizers", {"autograd/*", "layers/text", "layers/module", "train/files"}},
    {"train/data",
     {"autograd/*", "layers/text", "layers/module", "train/files", "train/tokenizers"}},
    {"train/yaml", {"autograd/base", "layers/config", "layers/text"}},
    {"train/config",
     {"autograd/*", "layers/text", "layers/config", "layers/module", "train/files", "train/optim",
      "train/data", "train/tokenizers", "train/yaml"}},
    {"train/checkpoint", {"autograd/*", "layers/*", "train/files", "train/optim"}},
    {"train/run",
     {"autograd/*", "layers/config", "layers/text", "train/files", "train/checkpoint",
      "train/config", "train/yaml"}},
    {"train/check/gradients", {"autograd/*"}},
    {"train/check", {"autograd/*", "layers/config", "layers/module", "train/config"}},
    {"train",
     {"autograd/*", "layers/text", "layers/module", "train/files", "train/optim",
      "train/tokenizers", "train/data", "train/config", "train/checkpoint", "train/run",
      "train/check", "train/yaml"}},

    {"tools", {"autograd/base"}},
    {"tools/terminal",
     {"autograd/*", "layers/text", "layers/module", "train/files", "train/data", "train/config"}},
    {"tools/commands", {"autograd/*", "layers/*", "train/*", "tools", "tools/terminal"}},
};

std::string folder_of(const std::string& path) {
  return path.substr(0, std::min(path.rfind('/'), path.size()));
}

bool is_within(const std::string& folder, const std::string& parent) {
  return folder == parent || folder.starts_with(parent + "/");
}

bool allows(const std::string& entry, const std::string& folder) {
  return entry.ends_with("/*") ? is_within(folder, entry.substr(0, entry.size() - 2))
                               : entry == folder;
}

// "tools/extras/bpe/train/read.h" -> "bpe"; "" for the core.
std::string extra_of(const std::string& path) {
  static const std::string extras = "/extras/";
  const size_t at = path.find(extras);
  return at == path.npos ? ""
                         : path.substr(at + extras.size(),
                                       path.find('/', at + extras.size()) - at - extras.size());
}

// Of an extra, what is in its sub-folders layers/ and train/ belongs to these floors.
size_t floor_of(const std::string& path) {
  const std::vector<std::string> floors{"autograd", "layers", "train", "tools"};
  std::string name = path.substr(0, path.find('/'));
  for (const char* lower : {"layers", "train"}) {
    if (path.find("/extras/" + extra_of(path) + "/" + lower + "/") != path.npos) name = lower;
  }
  return static_cast<size_t>(std::find(floors.begin(), floors.end(), name) - floors.begin());
}

// The extras that one says it needs, in its extra.cmake: "# Needs: report probe".
std::set<std::string> needs_of(const std::string& extra) {
  std::set<std::string> needs;
  const fs::path script = folder_of_extra(extra) / "extra.cmake";
  if (!fs::exists(script)) return needs;
  for (const std::string& line : read_source(script).lines) {
    if (!line.starts_with("# Needs: ")) continue;
    std::istringstream words(line.substr(9));
    for (std::string word; words >> word;) needs.insert(word);
  }
  return needs;
}

// How many needs lie behind an extra, one below the other.
size_t depth_of(const std::string& extra) {
  size_t depth = 0;
  for (const std::string& need : needs_of(extra)) depth = std::max(depth, 1 + depth_of(need));
  return depth;
}

// What an extra's README says that the extra costs: "| costs | about 1,500 lines of C++, ...". 0 if
// it says nothing.
size_t lines_in_readme(const std::string& extra) {
  const std::string begin = "| costs | about ";
  for (std::string line : read_source(folder_of_extra(extra) / "README.md").lines) {
    std::erase(line, ',');
    if (line.starts_with(begin)) return std::stoul(line.substr(begin.size()));
  }
  return 0;
}

struct Include {
  std::string from, to;  // paths of files
};

// Every include of a file of the sources by another.
const std::vector<Include>& includes() {
  static const std::vector<Include> all = [] {
    std::vector<Include> found;
    for (const SourceFile& file : sources()) {
      for (const std::string& line : file.lines) {
        const std::string header = included(line);
        const std::string top = header.substr(0, header.find('/'));
        if (top == "autograd" || top == "layers" || top == "train" || top == "tools" ||
            top == "tests") {
          found.push_back({file.path, header});
        }
      }
    }
    return found;
  }();
  return all;
}

// True for a folder of kernels that somebody deleted. Whatever includes it does so for the kernels.
bool is_gone(const std::string& folder) {
  return folder.starts_with("autograd/kernels/") && !fs::exists(root() / folder);
}

}  // namespace

TEST_CASE("layout: a folder includes what its row allows, and what is there") {
  for (const Include& include : includes()) {
    const std::string &from = include.from, &to = include.to;
    const std::string own = folder_of(from), other = folder_of(to);
    CHECK_MESSAGE((fs::exists(root() / to) || is_gone(other)), from, " includes ", to);
    if (!extra_of(from).empty()) {
      const std::string extra = extra_of(from), needed = extra_of(to);
      CHECK_MESSAGE(floor_of(to) <= floor_of(from), from, " includes ", to, ", from above");
      const bool declared = needed.empty() || needed == extra || needs_of(extra).contains(needed);
      CHECK_MESSAGE(declared, from, " includes ", to, ": the extra ", extra,
                    " does not say that it needs ", needed);
      continue;
    }
    CHECK_MESSAGE(extra_of(to).empty(), from, " includes ", to, ": the core knows no extra");
    const auto row = arrows.find(own);
    const bool allowed =
        own == other || (row != arrows.end() &&
                         std::any_of(row->second.begin(), row->second.end(),
                                     [&](const auto& entry) { return allows(entry, other); }));
    CHECK_MESSAGE(allowed, from, " includes ", to, ": ", own, " may not include ", other);
  }
  CHECK(sources().size() > 120);
  CHECK(includes().size() > 250);
  for (const auto& row : arrows) {
    CHECK_MESSAGE((fs::is_directory(root() / row.first) || is_gone(row.first)), row.first);
  }
}

// A build may have some extras alone (HEED_EXTRAS).
TEST_CASE("layout: tests ask for the extras whose commands they run") {
  if (!fs::is_directory(root() / "tools/extras")) {
    MESSAGE("skipped: there are no extras");
    return;
  }
  size_t asked = 0, needed = 0;
  const std::vector<SourceFile> transcripts = files_in({"tests/transcripts"}, {".txt"});
  for (const SourceFile& source : files_in({"tools/extras"}, {".cpp"})) {
    const std::string file = fs::path(source.path).stem().string(), owner = extra_of(source.path);
    if (!file.starts_with("cmd_")) continue;
    const std::string command = file.substr(4);
    const std::string runs = "(heed|with|succeeded|refused|shown)\\(\\{\"" + command + "\", ";
    for (const std::string& test : files_with(tests(), runs, "({\"" + command)) {
      const std::string extra = extra_of(test);
      if (extra.empty() || extra == owner || needs_of(extra).contains(owner)) continue;
      ++asked;
      CHECK_MESSAGE(!places({read_source(root() / test)}, "has_command\\(").empty(), test, " runs ",
                    command, ", which the extra ", owner, " has");
    }
    for (const std::string& test :
         files_with(transcripts, "^[$>] .*heed " + command + "( |$)", "heed " + command)) {
      ++needed;
      const std::string first = read_source(root() / test).lines.front() + " ";
      CHECK_MESSAGE((first.starts_with("# needs: ") && first.find(" " + owner + " ") != first.npos),
                    test, " runs ", command, ", which the extra ", owner, " has");
    }
  }
  CHECK(asked >= 1);
  CHECK(needed > 20);
}

TEST_CASE("layout: no two folders include each other, none includes the door above it") {
  std::set<std::pair<std::string, std::string>> pairs;
  for (const Include& include : includes()) {
    const std::string &from = include.from, &to = include.to;
    const std::string own = folder_of(from), other = folder_of(to);
    if (own != other) {
      pairs.insert({own, other});
    }
    const bool upwards = own != other && other.find('/') == std::string::npos &&
                         is_within(own, other) && own != "autograd/ops" &&
                         own != "tools/commands" && extra_of(own).empty();
    CHECK_MESSAGE(!upwards, from, " includes ", to, ", from above");
  }
  for (const auto& pair : pairs) {
    const bool both = pairs.contains({pair.second, pair.first});
    CHECK_MESSAGE(!both, pair.first, " and ", pair.second, " include each other");
  }
  CHECK(pairs.size() > 80);
}

TEST_CASE("layout: the core names no package of an extra") {
  for (const SourceFile& file : sources()) {
    if (extra_of(file.path).empty()) CHECK(joined(places({file}, R"(\bMPI_|\bpcre2)")) == "");
  }
}

TEST_CASE("layout: a sub-folder has one job: fewer than 20 units") {
  // Flat by design, or arithmetic that is hard to cut.
  const std::vector<std::string> as_many_as_needed{"layers", "autograd/ops", "tools/commands"};
  std::map<std::string, std::set<std::string>> units;
  for (const SourceFile& file : sources()) {
    const std::string folder = folder_of(file.path);
    units[folder].insert(file.path.substr(0, file.path.rfind('.')));
  }
  for (const auto& unit : units) {
    const std::string& folder = unit.first;
    if (folder.starts_with("autograd/kernels/") ||
        std::count(as_many_as_needed.begin(), as_many_as_needed.end(), folder) > 0) {
      continue;
    }
    CHECK_MESSAGE(unit.second.size() < 20, folder, " has ", unit.second.size(), " units");
  }
  CHECK(units.size() > 25);
}

// But for what stands between #ifdef HEED_OWN_KERNELS and its #endif.
TEST_CASE("layout: every sub-folder of autograd/kernels may be deleted") {
  for (const SourceFile& file : sources()) {
    const bool is_inside = folder_of(file.path).starts_with("autograd/kernels/");
    bool may_be_absent = is_inside;
    for (const std::string& line : file.lines) {
      if (line == "#ifdef HEED_OWN_KERNELS") may_be_absent = true;
      if (line == "#endif") may_be_absent = is_inside;
      const bool includes_one = line.starts_with("#include \"autograd/kernels/") &&
                                std::count(line.begin(), line.end(), '/') > 2;
      CHECK_MESSAGE((may_be_absent || !includes_one), file.path, ": ", line);
    }
  }
}

// The lines of tests/budget.txt: of C++ and Python physical lines, of Markdown words.
TEST_CASE("layout: no sum of tests/budget.txt grows") {
  std::map<std::string, size_t> sums{{"kernels", 0}, {"extras", 0}};  // folders that may be gone
  for (const SourceFile& file : sources()) {
    const bool is_own_kernel =
        file.path.starts_with("autograd/kernels/") && folder_of(file.path) != "autograd/kernels";
    const char* const of = extra_of(file.path).empty() ? "core" : "extras";
    sums[is_own_kernel ? "kernels" : of] += file.lines.size();
  }
  const std::vector<std::string> all{"autograd", "configs", "layers", "tests", "tools", "train"};
  for (const SourceFile& file : tests()) sums["tests"] += file.lines.size();
  for (const SourceFile& file : files_in(all, {".py"})) sums["python"] += file.lines.size();
  std::vector<SourceFile> pages = files_in(all, {".md"});
  for (const char* page : {"README.md", "CHANGES.md"}) pages.push_back(read_source(root() / page));
  for (const SourceFile& page : pages) {
    for (const std::string& line : page.lines) {
      std::istringstream words(line);
      sums["words"] += std::distance(std::istream_iterator<std::string>(words), {});
    }
  }
  std::map<std::string, size_t> budget;
  for (const std::string& line : read_source(root() / "tests/budget.txt").lines) {
    std::istringstream words(line);
    if (std::string name; words >> name && name != "#") words >> budget[name];
  }
  CHECK(budget.size() == sums.size());
  for (const auto& sum : sums) {
    const size_t most = budget[sum.first];
    MESSAGE(sum.first << ": " << sum.second << " of " << most);
    CHECK_MESSAGE(sum.second <= most, sum.first, ": ", sum.second, ", at most ", most,
                  "; take something out, or say in the commit what the lines buy");
  }
}

TEST_CASE("layout: tools/README.md lists each extra, and its README says what it costs") {
  std::map<std::string, size_t> extras;
  for (const SourceFile& file : sources()) {
    const std::string extra = extra_of(file.path);
    if (!extra.empty()) extras[extra] += file.lines.size();
  }
  const std::string readme = joined(read_source(root() / "tools/README.md").lines);
  for (const auto& entry : extras) {  // names of parts cannot be captured by Clang 14
    const std::string& extra = entry.first;
    const size_t lines = entry.second;
    CHECK_MESSAGE(readme.find("| [" + extra + "](") != std::string::npos,
                  "tools/README.md does not list the extra ", extra);
    const double said = static_cast<double>(lines_in_readme(extra)),
                 real = static_cast<double>(lines);
    CHECK_MESSAGE((said > 0.85 * real - 50 && said < 1.15 * real + 50), "the README of the extra ",
                  extra, " says that it costs ", said, " lines; it has ", lines);
  }
}

TEST_CASE("layout: an extra is one folder, at most three needs deep") {
  std::map<std::string, std::set<std::string>> folders;
  for (const SourceFile& file : sources_and_tests()) {
    const std::string extra = extra_of(file.path);
    if (!extra.empty()) folders[extra].insert(file.path.substr(0, file.path.find(extra)));
  }
  for (const auto& entry : folders) {  // names of parts cannot be captured by Clang 14
    const std::string& extra = entry.first;
    CHECK_MESSAGE(entry.second.size() == 1, extra, " lies in ",
                  joined({entry.second.begin(), entry.second.end()}));
    CHECK_MESSAGE(depth_of(extra) <= 3, extra, " stands on ", depth_of(extra), " others");
  }
}

TEST_CASE("layout: what is compiled once for both precisions does not know real") {
  std::map<std::string, std::vector<std::string>> includes;
  for (const SourceFile& file : sources()) {
    for (const std::string& line : file.lines) {
      if (const std::string header = included(line); !header.empty()) {
        includes[file.path].push_back(header);
      }
    }
  }
  CHECK(plain_sources().size() > 20);
  for (const std::string& source : plain_sources()) {
    std::vector<std::string> open{source};
    std::set<std::string> seen{source};
    while (!open.empty()) {
      const std::string file = open.back();
      open.pop_back();
      CHECK_MESSAGE(file != "autograd/base/real.h", source, " includes it, maybe by others");
      for (const std::string& header : includes[file]) {
        if (seen.insert(header).second) open.push_back(header);
      }
    }
  }
}

TEST_CASE("layout: a source lies beside the header of its name") {
  int64_t sources_seen = 0;
  for (const SourceFile& file : sources()) {
    if (!file.path.ends_with(".cpp") || file.folder == "tools") {
      continue;
    }
    const std::string header = file.path.substr(0, file.path.size() - 3) + "h";
    CHECK_MESSAGE(fs::exists(root() / header), file.path, " has no header of its name");
    ++sources_seen;
  }
  CHECK(sources_seen > 80);
}
