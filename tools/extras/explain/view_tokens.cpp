// heed generate --show and --html: each token in the colour of its probability, and the likeliest
// other ones at its place.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "layers/text/display.h"
#include "layers/text/formatted.h"
#include "tools/command.h"
#include "tools/extras/report/pages/heat_map.h"
#include "tools/extras/report/pages/output_file.h"
#include "tools/extras/report/pages/page.h"
#include "tools/terminal/table.h"
#include "train/checkpoint/checkpoint.h"
#include "train/files/files.h"
#include "train/yaml/yaml.h"

namespace heed::cli {

namespace {

using ShownJson = nlohmann::ordered_json;

// A piece of text in the colour of its probability: from none, for 63% or more, to red, for 1.6% or
// less. The numbers are backgrounds of the 256-colour palette that go with black letters.
std::string in_red(const std::string& piece, double probability) {
  constexpr std::array reds{0, 224, 217, 210, 203, 196};
  const double surprise = std::clamp(-std::log10(probability) / 2, 0.0, 1.0);
  const auto level = static_cast<size_t>(std::lround(surprise * (reds.size() - 1)));
  const std::string shown = printable_lines(piece, "\n\t");
  if (level == 0) return shown;
  const std::string begin = text("\x1b[38;5;16;48;5;", reds[level], "m"), end = "\x1b[0m";
  std::string out = begin;
  for (const char c : shown) {  // the end of a line is a blank in its colour
    out += c == '\n' ? " " + end + "\n" + begin : std::string(1, c);
  }
  return out + end;
}

// What was given, then the tokens. Those that make a character together have the colour of their
// product.
std::string colored_text(const ShownJson& sample, bool color) {
  std::string written, shown;
  double probability = 1;
  for (const ShownJson& token : sample.at("tokens")) {
    const auto piece = token.value("text", "");
    probability *= token.at("probability").get<double>();
    if (piece.empty()) continue;
    written += piece;
    shown += in_red(piece, color ? probability : 1);
    probability = 1;
  }
  const std::string whole = sample.at("text");
  return in_red(whole.substr(0, whole.size() - written.size()), 1) + shown;
}

// A row for each token: it, its probability, the next best three.
std::string table_of_tokens(const ShownJson& tokens) {
  using enum Align;
  const std::vector<Align> columns{left, right, left, right, left, right, left, right};
  Table table(columns);
  table.add({"token", "", "next best"});
  for (const ShownJson& token : tokens) {
    std::vector<std::string> row;
    const auto add = [&](const ShownJson& one) {
      row.push_back(one.at("token"));
      row.push_back(formatted("%.2f%%", 100 * one.at("probability").get<double>()));
    };
    add(token);
    for (const ShownJson& other : token.at("likeliest")) {
      if (other.at("id") != token.at("id") && row.size() < columns.size()) add(other);
    }
    table.add(row);
  }
  return table.text();
}

void show_on_terminal(const ShownJson& answers) {
  const bool color = style_of_terminal().color;
  for (const ShownJson& sample : answers.at("samples")) {
    print_text(table_of_tokens(sample.at("tokens")));
    std::printf("\n%s\n\n", colored_text(sample, color).c_str());
  }
  std::string scale = "probability";
  for (const double probability : {1.0, 0.4, 0.16, 0.06, 0.025, 0.01}) {
    scale += " " + in_red(formatted(" %g%% ", 100 * probability), probability);
  }
  if (color) std::printf("%s\n", scale.c_str());
}

}  // namespace

AnswerView tokens_view(const std::string& run, bool on_terminal,
                       const std::optional<std::string>& html) {
  const std::filesystem::path folder = parse_run(run).run;
  if (html) {
    require_replaceable("heed generate: --html", *html,
                        files_named_in(read_config((folder / "config.yaml").string()), folder));
  }
  return [=](const std::string& json) {
    ShownJson answers = ShownJson::parse(json);
    for (const ShownJson& sample : answers.at("samples")) {
      require<ConfigError>(!sample.at("tokens").empty(),
                           "heed generate: --show and --html: expected ",
                           "a model that draws token by token, got one of a single answer");
    }
    if (on_terminal) show_on_terminal(answers);
    if (!html) return;
    answers["run"] = std::filesystem::weakly_canonical(folder).filename().string();
    answers["version"] = HEED_VERSION;
    write_file_atomically(
        *html,
        filled(asset("explain/tokens"), {{"{{style}}", asset("pages/style")},
                                         {"{{data}}", within_script(answers.dump())},
                                         {"{{scripts}}", asset("explain/tokens_scripts")}}),
        Links::follow);
    print_line(stdout, written(*html));
  };
}

}  // namespace heed::cli
