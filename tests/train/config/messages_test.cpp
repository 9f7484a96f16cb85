// What is said about a config with mistakes. The cases are in tests/messages; tests/README.md says
// how they are written.
#include <doctest/doctest.h>

#include <sstream>

#include "tests/support/source_tree.h"
#include "tests/support/training_run.h"
#include "train/config/run_hooks.h"
#include "train/plan.h"
#include "train/yaml/yaml_set.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

struct Case {
  std::string place;  // "tests/messages/texts/keys.yaml:12: a key without a colon"
  std::string config;
  std::vector<std::string> sets;
  std::vector<std::pair<std::string, std::string>> files;  // names and contents
  bool trusts_plugins = false;
  bool is_whole = false;  // nothing is added to it
  std::string needs;      // an extra besides that of the file
  std::string expected;   // lines; "accepted"
  int exit_code = 0;
};

char escaped(std::istream& in) {
  const auto c = static_cast<char>(in.get());
  if (c != 'x') return c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
  const std::string digits{static_cast<char>(in.get()), static_cast<char>(in.get())};
  return static_cast<char>(std::stoi(digits, nullptr, 16));
}

// Of `"a: " "[" * 17 "\xFF\n"`: the bytes of each string, as often as the number after it says.
std::string bytes_of(const std::string& strings) {
  std::string all;
  std::istringstream in(strings);
  while (in >> std::ws && in.peek() == '"') {
    std::string bytes;
    in.get();
    for (char c = 0; in.get(c) && c != '"';) bytes += c == '\\' ? escaped(in) : c;
    int64_t times = 1;
    if (in >> std::ws && in.peek() == '*') {
      in.get();
      in >> times;
    }
    while (times-- > 0) all += bytes;
  }
  return all;
}

// Whether the line is `# word: rest`, as a case has them; then `rest` is what follows.
bool is_line(const std::string& line, const std::string& word, std::string& rest) {
  const bool is = line.starts_with("# " + word);
  if (is) rest = line.substr(2 + word.size());
  return is;
}

void expect(Case& one, const std::string& message, int exit_code) {
  one.expected += (one.expected.empty() ? "" : "\n") + message;
  one.exit_code = exit_code;
}

// Takes a line of a case: what is expected and how it is read stands in comments, at its end what
// is expected, which may go on in lines that begin with `#   `.
void add_line(Case& one, const std::string& line) {
  std::string rest;
  if (is_line(line, "expect ", rest)) {
    expect(one, rest, 2);
  } else if (is_line(line, "unreadable ", rest)) {
    expect(one, rest, 1);
  } else if (is_line(line, "warns ", rest)) {
    expect(one, rest, 0);
  } else if (line == "# accepted") {
    expect(one, "accepted", 0);
  } else if (!one.expected.empty()) {
    REQUIRE_MESSAGE((line.empty() || is_line(line, "  ", rest)), one.place, ": ", line);
    if (!line.empty()) one.expected += " " + rest;
  } else if (is_line(line, "text: ", rest)) {
    one.config += bytes_of(rest);
  } else if (is_line(line, "file ", rest)) {
    one.files.emplace_back(rest.substr(0, rest.find(": ")), bytes_of(rest.substr(rest.find('"'))));
  } else if (is_line(line, "--set ", rest)) {
    one.sets.push_back(rest);
  } else if (is_line(line, "needs ", rest)) {
    one.needs = rest;
  } else if (line == "# whole") {
    one.is_whole = true;
  } else if (line == "# --trust-plugins") {
    one.trusts_plugins = true;
  } else {
    one.config += line + "\n";
  }
}

std::vector<Case> cases_in(const layout::SourceFile& file) {
  std::vector<Case> cases;
  for (size_t i = 0; i < file.lines.size(); ++i) {
    std::string title;
    if (is_line(file.lines[i], "case: ", title)) {
      cases.push_back({text(file.path, ":", i + 1, ": ", title)});
    } else if (!cases.empty()) {
      add_line(cases.back(), file.lines[i]);
    }
  }
  for (const Case& one : cases)
    CHECK_MESSAGE(!one.expected.empty(), one.place, ": expects nothing");
  return cases;
}

// Adds the sections of the small config that a case does not have, below its own lines.
std::string completed(std::string config) {
  for (const std::string& line : lines_of(small_config)) {
    const std::string key = line.substr(0, line.find(' '));
    if (("\n" + config).find("\n" + key) == std::string::npos) config += line + "\n";
  }
  return config;
}

using Lines = std::vector<std::string>;

// Each returns warnings about a case, whose files are in the folder, or throws what is said.

// The text of a config and --set arguments, no more.
Lines read_text_of(const Case& one, const TempDir&) {
  ConfigErrors errors;
  ConfigNode root = parse_config(one.config, "c.yaml", errors);
  for (const std::string& set : one.sets) apply_set(root, set, errors);
  errors.throw_if_any();
  return {};
}

// The config of a run with its data and plan, as for `heed validate`.
Lines read_config_of(const Case& one, const TempDir& folder) {
  const std::string config = one.is_whole ? one.config : completed(one.config);
  const std::string file = write_config(folder, config);
  for (const auto& [name, content] : one.files) write_text(folder / name, content);
  for_each_hook([&](RunHooks& each) { each.load_libraries({}, one.trusts_plugins); });
  const Plan plan = make_plan(load_run(read_run_tree(file, one.sets), folder.path()));
  require_memory(plan);
  return plan.warnings;
}

std::string without(const std::string& words, std::string lines) {
  for (size_t at; (at = lines.find(words)) != std::string::npos;) lines.erase(at, words.size());
  return lines;
}

using Reader = Lines (*)(const Case&, const TempDir&);

// Compares what is said, without the names of the folder and of the config.
void check_case(const Case& one, Reader read) {
  CAPTURE(one.place);
  const TempDir folder;
  std::string said;
  int exit_code = 0;
  try {
    for (const std::string& warning : read(one, folder))
      said += (said.empty() ? "" : "\n") + warning;
    if (said.empty()) said = "accepted";
  } catch (const Error& error) {
    said = without("c.yaml:", without(folder.path().string() + "/", error.what()));
    exit_code = error.exit_code();
  }
  CHECK_MESSAGE(said == one.expected, "expected\n", one.expected, "\nsaid\n", said);
  CHECK(exit_code == one.exit_code);
}

// The files of a folder of tests/messages; of those of extras, the ones of this build.
std::vector<layout::SourceFile> files_of(const std::string& folder) {
  std::vector<std::string> folders{"tests/messages/" + folder};
  for (const std::string& extra : layout::built_extras()) {
    const fs::path of_extra = layout::folder_of_extra(extra) / "tests/messages";
    if (folder != "texts" && fs::exists(of_extra)) folders.push_back(of_extra);
  }
  return layout::files_in(folders, {folder == "sets" ? ".txt" : ".yaml"});
}

int check_cases(const std::string& folder, Reader read) {
  int count = 0;
  for (const layout::SourceFile& file : files_of(folder)) {
    const std::vector<Case> cases = cases_in(file);
    CHECK_MESSAGE(!cases.empty(), file.path);
    for (const Case& one : cases) {
      if (one.needs.empty() || layout::has_extra(one.needs)) check_case(one, read);
    }
    count += static_cast<int>(cases.size());
  }
  return count;
}

// The case of a line `KEY=VALUE -> MESSAGE`. A message about a key is placed at its last word, any
// other at the value.
Case case_of_set(const std::string& place, const std::string& line) {
  const size_t arrow = line.find(" -> ");
  REQUIRE_MESSAGE(arrow != std::string::npos, place, ": ", line);
  const std::string set = line.substr(0, line.find_last_not_of(' ', arrow) + 1);
  const std::string path = set.substr(0, set.find('='));
  const std::string message = line.substr(arrow + 4);
  const bool is_about_key = message.starts_with("unknown key") || message.starts_with("here it is");
  const size_t at = is_about_key ? path.rfind('.') + 1 : path.size() + 1;
  Case one{place, "", {set}};
  expect(one, text("--set ", set, ":1:", at + 1, ": ", path, ": ", message), 2);
  return one;
}

}  // namespace

TEST_CASE("messages: texts that are no config") {
  CHECK(check_cases("texts", read_text_of) >= 110);
}

TEST_CASE("messages: configs with mistakes") {
  CHECK(check_cases("configs", read_config_of) >= (layout::has_extra("configs") ? 140 : 70));
}

TEST_CASE("messages: single values and keys") {
  int count = 0;
  for (const layout::SourceFile& file : files_of("sets")) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      if (file.lines[i].empty() || file.lines[i].starts_with("#")) continue;
      check_case(case_of_set(text(file.path, ":", i + 1), file.lines[i]), read_config_of);
      ++count;
    }
  }
  CHECK(count >= (layout::has_extra("configs") ? 210 : 100));
}

TEST_CASE("messages: every file is read") {
  const fs::path all = layout::root() / "tests/messages";
  int count = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(all)) {
    if (entry.is_directory()) continue;
    const fs::path file = fs::relative(entry.path(), all);
    const bool is_table = *file.begin() == "sets";
    CHECK_MESSAGE((is_table || *file.begin() == "texts" || *file.begin() == "configs"), file);
    CHECK_MESSAGE(file.extension() == (is_table ? ".txt" : ".yaml"), file);
    ++count;
  }
  CHECK(count >= 10);
}
