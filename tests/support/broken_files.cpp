#include "tests/support/broken_files.h"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include "autograd/base/error.h"
#include "tests/support/errors.h"
#include "tests/support/source_tree.h"

namespace heed::testing {

namespace {

std::string unescaped(std::string_view written);

std::string taken(std::string_view& rest, size_t count) {
  const std::string front(rest.substr(0, count));
  rest.remove_prefix(front.size());
  return front;
}

// What stands between braces, as often as the number before them says.
std::string repeated(std::string_view& rest) {
  const size_t times = std::stoul(taken(rest, rest.find('{')));
  size_t end = 1;
  while (rest.at(end) != '}') end += rest[end] == '\\' ? 2 : 1;
  const std::string part = unescaped(taken(rest, end).substr(1));
  rest.remove_prefix(1);
  std::string all;
  all.reserve(times * part.size());
  for (size_t i = 0; i < times; ++i) all += part;
  return all;
}

std::string unescaped(std::string_view written) {
  std::string bytes;
  while (!written.empty()) {
    const std::string character = taken(written, 1);
    const char escape = character == "\\" ? taken(written, 1).at(0) : '\0';
    switch (escape) {
      case '\0':
        bytes += character;
        break;
      case 'n':
        bytes += '\n';
        break;
      case 't':
        bytes += '\t';
        break;
      case 'r':
        bytes += '\r';
        break;
      case 'x':
        bytes += static_cast<char>(std::stoi(taken(written, 2), nullptr, 16));
        break;
      case '*':
        bytes += repeated(written);
        break;
      case '.':
        break;
      default:
        bytes += escape;
    }
  }
  return bytes;
}

std::vector<BrokenFile> cases_of(const std::string& table) {
  std::vector<BrokenFile> cases;
  std::string setting, before, after;
  bool said = true;
  int number = 0;
  for (std::string line : layout::read_source(layout::root() / "tests/broken" / table).lines) {
    const std::string place = text(table, ":", ++number);
    if (line.starts_with("    ")) {
      REQUIRE_MESSAGE(!cases.empty(), place, " says something about nothing");
      BrokenFile& last = cases.back();
      last.goes_on = line.ends_with("...") && !line.ends_with("\\...");
      if (last.goes_on) line.resize(line.size() - 3);
      last.said += (said ? "\n" : "") + unescaped(line.substr(4));
      said = true;
      continue;
    }
    REQUIRE_MESSAGE(said, place, " follows a content of which nothing is said");
    if (line.empty() || line[0] == '#') continue;
    if (line.starts_with("== ")) {
      setting = line.substr(3);
      before.clear(), after.clear();
    } else if (line.starts_with("<> ")) {
      const size_t gap = line.find("<>", 3);
      REQUIRE_MESSAGE(gap != std::string::npos, place, " has no <> for the content");
      before = unescaped(line.substr(3, gap - 3)), after = unescaped(line.substr(gap + 2));
    } else {
      cases.push_back({setting, before + unescaped(line) + after, "", false, place});
      said = false;
    }
  }
  REQUIRE_MESSAGE(said, table, " ends with a content of which nothing is said");
  return cases;
}

}  // namespace

size_t check_broken(const std::string& table,
                    const std::function<std::string(const BrokenFile&)>& reader) {
  const std::vector<BrokenFile> cases = cases_of(table);
  for (const BrokenFile& each : cases) {
    std::string got;
    const std::string error = error_of([&] { got = reader(each); });
    if (got.empty()) got = error;
    const bool as_said = each.goes_on ? got.starts_with(each.said) : got == each.said;
    CHECK_MESSAGE(as_said, each.place, ": expected ", each.said, "\ngot      ", got);
  }
  return cases.size();
}

}  // namespace heed::testing
