// Every member of a config is declared in its fields(): what is not cannot be given in a config.
// The members are read from the source. Counting them in C++, by trying how many initialisers a
// struct takes, costs every unit that has a config, and knows nothing of structs with a base.
#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "layers/config/fields.h"
#include "tests/support/source_tree.h"

using namespace heed::testing;
using namespace heed::testing::layout;

namespace {

const std::string declares_fields = R"(fields?\(Fields& ?f?)";

// The lines after `begin` up to the one that is `end`, without comments.
std::string until(const std::vector<std::string>& lines, size_t begin, const std::string& end) {
  std::string found;
  for (size_t i = begin; i < lines.size() && lines[i] != end; ++i) {
    found += lines[i].substr(0, lines[i].find("//")) + "\n";
  }
  return found;
}

// The bodies of the functions X::fields, X::some_fields, ... of the struct X.
std::string bodies(const SourceFile& file, const std::string& of) {
  const std::regex begins("\\b" + of + R"(::\w*)" + declares_fields);
  std::string found;
  for (size_t i = 0; i < file.lines.size(); ++i) {
    if (std::regex_search(file.lines[i], begins)) found += until(file.lines, i, "}");
  }
  return found;
}

// The members of a struct, from its lines, which are indented by `indent`; those of functions in it
// further.
std::vector<std::string> members(const std::string& lines, const std::string& indent) {
  const std::regex member("\n" + indent + R"((?! |using|static|friend|return)[\w:<>, ]+ )" +
                          R"([a-z]\w*(;|\{| =|,)[^\n]*)");
  const std::regex name(R"(([a-z]\w*)( = [^,;]*|\{[^}]*\})?[,;])");
  std::vector<std::string> found;
  for (std::sregex_iterator at(lines.begin(), lines.end(), member), none; at != none; ++at) {
    const std::string line = at->str();
    for (std::sregex_iterator one(line.begin(), line.end(), name); one != none; ++one) {
      found.push_back((*one)[1]);
    }
  }
  return found;
}

// Declared by itself, by a function that is given both, or as a part that declares its own members.
bool is_declared(const std::string& member, const std::string& code) {
  return std::regex_search(
      code, std::regex(R"(("\w+",|\(f,)\s*)" + member + R"(\b|\b)" + member + R"(\.\w*fields\(f)"));
}

// A struct of its own: `void fields(Fields& f)`. Others have parts of one, as `size_fields`.
const std::regex is_config(R"(\bvoid fields\(Fields& f\))");

struct Members {
  int64_t count = 0, configs = 0;
  std::vector<std::string> without;     // configs in which no member was found
  std::vector<std::string> undeclared;  // "Config.window"
};

void look_at(const SourceFile& header, const SourceFile& source, Members& all) {
  const std::regex begins(R"(^( *)struct (\w+)[^;]*\{$)");
  for (size_t i = 0; i < header.lines.size(); ++i) {
    std::smatch match;
    if (!std::regex_match(header.lines[i], match, begins)) continue;
    const std::string lines = until(header.lines, i, match.str(1) + "};");
    if (!std::regex_search(lines, std::regex(declares_fields))) continue;
    const std::string code = lines + bodies(header, match[2]) + bodies(source, match[2]);
    const std::vector<std::string> found = members(lines, match.str(1) + "  ");
    for (const std::string& member : found) {
      ++all.count;
      if (!is_declared(member, code)) all.undeclared.push_back(match.str(2) + "." + member);
    }
    all.configs += std::regex_search(lines, is_config) ? 1 : 0;
    if (found.empty()) all.without.push_back(header.path + " " + match.str(2));
  }
}

}  // namespace

TEST_CASE("fields: every member of a config is declared") {
  Members all;
  int64_t configs = 0;
  for (const SourceFile& header : sources_and_tests()) {
    if (header.path.ends_with(".h")) {
      const std::string name = header.path.substr(0, header.path.size() - 2);
      look_at(header, read_source(root() / (name + ".cpp")), all);
      configs +=
          std::count_if(header.lines.begin(), header.lines.end(), [](const std::string& line) {
            return std::regex_search(line.substr(0, line.find("//")), is_config);
          });
    }
  }
  // Every config was seen, and members in each, but for those that have none of their own.
  std::sort(all.without.begin(), all.without.end());
  CHECK(all.configs == configs);
  CHECK(configs > 20);
  CHECK(layout::joined(all.without) ==
        "layers/config/fields.h NoFields, layers/packed_attention.h Config");
  // Filled in by C++: what a config is read for, not what it says.
  std::sort(all.undeclared.begin(), all.undeclared.end());
  CHECK(layout::joined(all.undeclared) == "RunConfig.purpose, TrainConfig.required");
}

TEST_CASE("fields: a member that is not declared is found") {
  const SourceFile header{
      "layers/windowed.h",
      "layers",
      {"class Windowed final : public Module {", "  struct Config : Base {",
       "    int64_t d_in = 4, d_out = 5;", "    int64_t window = 2;  // d_in, window",
       "    std::vector<double> betas = {0.9, 0.95};", "    LayerChoice attention{\"linear\"};",
       "    Part part, other;", "    std::optional<int64_t> forgotten;",
       "    bool is_wide() const { return window > 3; }", "    void fields(Fields& f);", "  };",
       "};"}};
  const SourceFile source{
      "layers/windowed.cpp",
      "layers",
      {"void Windowed::Config::fields(Fields& f) {",
       "  f.required(\"d_in\", d_in, at_least(1), \"width\");", "  f.optional(",
       "      \"betas\", betas, \"rates\");", "  attention_field(f, attention, *this);",
       "  part.more_fields(f);", "}", "void use() { f.optional(\"window\", window, \"\"); }"}};
  Members all;
  look_at(header, source, all);
  CHECK(all.count == 8);
  CHECK(layout::joined(all.undeclared) ==
        "Config.d_out, Config.window, Config.other, Config.forgotten");
}
