// heed gradcheck: compares gradients with central differences, for layers by name or for the model
// of a config. Layers by name are also looked at for causality, threads, checkpoints, ...
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "autograd/array/storage.h"
#include "autograd/kernels/gemm.h"
#include "layers/module/evaluation_mode.h"
#include "layers/text/formatted.h"
#include "tools/command.h"
#include "tools/commands/config_file.h"
#include "tools/extras/checks/layers/layer_inputs.h"
#include "tools/extras/checks/layers/variants.h"
#include "tools/extras/checks/train/examine_layer.h"
#include "tools/terminal/table.h"
#include "train/config/run_config.h"
#include "train/files/human_readable.h"

namespace heed::cli {

namespace {

struct CheckOptions {
  std::string target;
  std::vector<std::string> sets;
  double tolerance = 1e-6;
  bool json = false;
};

void declare(Arguments& arguments, CheckOptions& o) {
  arguments.positional("CONFIG|LAYER|all", o.target, "a config, a layer, or all layers")
      .option("--tolerance", o.tolerance, "largest relative error (default 1e-6)")
      .option("--set", o.sets, "change a value of the config; may be repeated, the last one counts")
      .threads()
      .flag("--json", o.json, "one JSON object on standard output");
}

using Checks = std::vector<LayerCheck>;

struct LayerFinding {
  std::string layer;
  Finding finding;
};
using Findings = std::vector<LayerFinding>;

// The checks for causality, threads, checkpoints etc., on the example config of each layer.
Findings findings_of(const std::vector<std::string>& types) {
  Findings all;
  for (const std::string& type : types) {
    const ConfigNode config = example_config(layer_registry().types().get(type).fields());
    for (Finding& finding : examine_layer(read_options("layer", type, config))) {
      all.push_back({type, std::move(finding)});
    }
  }
  return all;
}

// The layers that the target names; empty if it is a config.
std::vector<std::string> layers_named(const std::string& target) {
  const std::vector<std::string> known = layer_registry().types().names();
  if (target == "all") {
    return known;
  }
  return layer_registry().types().find(target) != nullptr ? std::vector<std::string>{target}
                                                          : std::vector<std::string>{};
}

// How many elements per parameter are compared: all for a small model; for a larger one as many as
// fit into about a minute, at four forward passes per element. As many are taken by each of the
// three seeds to compare all elements of a parameter along one direction.
int64_t affordable_sample(const LayerChoice& choice, int64_t tokens) {
  constexpr int64_t flops = 500'000'000'000, passes = 400'000;
  const DryRun dry;
  const std::unique_ptr<Module> model = make_layer(choice);
  int64_t parameters = 0;
  model->for_each_parameter([&](const std::string&, const Parameter&) { ++parameters; });
  const Signature sizes = sized_signature(*model);
  const EvaluationMode evaluating(*model);
  const int64_t length = sizes.tokens_near(tokens), before = flop_count();
  (*model)(blank_input(sizes, 2, length, sizes.source_longest.value_or(length)));
  const int64_t of_a_pass = std::max<int64_t>(1, flop_count() - before);
  const int64_t affordable = std::min(passes, flops / of_a_pass);
  const int64_t forms = 5, directions = 3;
  const int64_t slopes = affordable / (4 * forms * std::max<int64_t>(1, parameters));
  return std::clamp<int64_t>(slopes - directions, 2, 512);
}

Checks check_config(const CheckOptions& o, const std::filesystem::path& config) {
  const LoadedRun loaded =
      load_run(read_run_tree(config, o.sets), config.parent_path(), Purpose::model);
  apply_settings(loaded.config);
  LayerCheckOptions options{.tolerance = o.tolerance};
  if (const auto* context = loaded.config.model.find<int64_t>("context_length")) {
    options.tokens = std::min(*context, options.tokens);
  }
  options.sample = affordable_sample(loaded.config.model, options.tokens);
  if (options.sample < 512) {
    std::fprintf(stderr, "a large model: at most %lld elements of each parameter are compared\n",
                 static_cast<long long>(options.sample));
  }
  return check_gradients(loaded.config.model, options);
}

// The config that the target names. Throws for a name that is none: it could be a misspelt layer,
// one of a plugin, or an operation.
std::string config_named(const std::string& target) {
  const std::optional<std::string> found = find_config(target);
  const bool is_path = found || target.find_first_of("/.") != std::string::npos;
  if (is_path && !std::filesystem::is_directory(target)) {
    return found.value_or(target);
  }
  fail<ConfigError>("heed gradcheck: there is no layer and no file ", printable(target),
                    did_you_mean(target, layer_registry().types().names()),
                    " (a layer of a plugin: heed --plugin FILE gradcheck ", printable(target),
                    "; an operation: testing::check_op in a test, see README.md)");
}

Checks check_target(const CheckOptions& o) {
  const LayerCheckOptions options{.tolerance = o.tolerance};
  Checks all;
  const std::vector<std::string> layers = layers_named(o.target);
  require<ConfigError>(layers.empty() || o.sets.empty(),
                       "heed gradcheck: --set changes a config; of a layer every option is tried");
  for (const std::string& type : layers) {
    const Checks checks = check_gradients_of_type(type, options);
    all.insert(all.end(), checks.begin(), checks.end());
  }
  if (!all.empty()) {
    return all;
  }
  return check_config(o, config_named(o.target));
}

// What both forms of output have.
struct Results {
  Results(Checks of, Findings also) : checks(std::move(of)), findings(std::move(also)) {
    for (const LayerCheck& check : checks) {
      compared += check.compared;
      failed += check.passed ? 0 : 1;
      worst = std::max(worst, check.worst);
    }
    for (const LayerFinding& each : findings) {
      wrong += each.finding.message.empty() ? 0 : 1;
    }
  }
  bool passed() const { return failed == 0 && wrong == 0 && compared > 0; }

  Checks checks;
  Findings findings;
  int64_t compared = 0, failed = 0, wrong = 0;
  double worst = 0;
};

nlohmann::ordered_json as_json(const Results& found, double tolerance) {
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  for (const LayerCheck& check : found.checks) {
    cases.push_back({{"layer", check.layer},
                     {"options", check.options},
                     {"input", check.input},
                     {"compared", check.compared},
                     {"worst", check.worst},
                     {"passed", check.passed},
                     {"message", check.message}});
  }
  nlohmann::ordered_json others = nlohmann::ordered_json::array();
  for (const auto& [layer, finding] : found.findings) {
    others.push_back({{"layer", layer},
                      {"what", finding.what},
                      {"passed", finding.message.empty()},
                      {"message", finding.message}});
  }
  return {{"passed", found.passed()},     {"tolerance", tolerance},
          {"cases", found.checks.size()}, {"failed", found.failed},
          {"compared", found.compared},   {"worst", found.worst},
          {"checks", std::move(cases)},   {"findings", std::move(others)}};
}

// Cases next to each other that share a name.
struct Row {
  std::string name;
  int64_t cases = 0, compared = 0;
  double worst = 0;
  bool passed = true;
};

std::vector<Row> rows_of(const Checks& checks, std::string LayerCheck::*name) {
  std::vector<Row> rows;
  for (const LayerCheck& check : checks) {
    if (rows.empty() || rows.back().name != check.*name) {
      rows.push_back({check.*name});
    }
    Row& row = rows.back();
    ++row.cases;
    row.compared += check.compared;
    row.worst = std::max(row.worst, check.worst);
    row.passed = row.passed && check.passed;
  }
  return rows;
}

// Of all layers a row each, of one layer a row for its options, of a config a row for each input.
void print(const Results& found, const std::string& target) {
  const bool of_layer = !layers_named(target).empty();
  const auto [title, name] = target == "all" ? std::pair{"layer", &LayerCheck::layer}
                             : of_layer      ? std::pair{"options", &LayerCheck::options}
                                             : std::pair{"input", &LayerCheck::input};
  Table table({Align::left, Align::right, Align::right, Align::right, Align::left});
  table.add({title, "cases", "compared", "worst", ""});
  for (const Row& row : rows_of(found.checks, name)) {
    table.add({shortened(row.name.empty() ? "(defaults)" : row.name, 44), std::to_string(row.cases),
               grouped(row.compared), formatted("%.1e", row.worst), row.passed ? "ok" : "FAILED"});
  }
  print_text(table.text() + "\n");
}

// What is wrong with each layer, and of the cases that fail for it the first. After a finding that
// other checks fail for, nothing more.
void print_mistakes(const Results& found) {
  std::map<std::string, int64_t> failed;
  for (const LayerCheck& check : found.checks) failed[check.layer] += check.passed ? 0 : 1;
  for (const auto& [layer, finding] : found.findings) {
    if (finding.message.empty() || finding.what == "gradients" || failed[layer] < 0) continue;
    print_line(stdout, text("FAILED ", layer, ", ", finding.what, ": ", finding.message));
    if (finding.what == "threads" || finding.what == "gradients that are missing")
      failed[layer] = -1;
  }
  for (const LayerCheck& check : found.checks) {
    const int64_t more =
        std::exchange(failed[check.layer], check.passed ? failed[check.layer] : 0) - 1;
    if (check.passed || more < 0) continue;
    print_line(stdout, text("FAILED ", check.layer, ", ", check.options,
                            check.options.empty() ? "" : ", ", check.input, ": ", check.message,
                            more > 0 ? text("; ", grouped(more), " more cases failed") : ""));
  }
}

void print_findings(const Results& found) {
  if (found.findings.empty()) {
    return;
  }
  std::string looked_at;
  for (const auto& [layer, finding] : found.findings) {
    if (layer == found.findings.front().layer && finding.what != "gradients") {
      looked_at += (looked_at.empty() ? "" : ", ") + finding.what;
    }
  }
  print_text(text("also looked at ", looked_at, ": ",
                  found.wrong == 0 ? "all well" : grouped(found.wrong) + " wrong", "\n"));
}

std::string verdict(const Results& found) {
  return text(found.passed() ? "passed: " : "FAILED: ", found.checks.size(), " cases, ",
              grouped(found.compared), " gradient elements compared, ",
              found.failed == 0 ? "none" : grouped(found.failed), " failed",
              found.wrong == 0 ? "" : text("; ", found.wrong, " of the other checks failed"));
}

int run(const CheckOptions& o) {
  require<ConfigError>(o.tolerance > 0, "heed gradcheck: expected --tolerance above 0, got ",
                       o.tolerance);
  require_precision("float64");
  const Results found(check_target(o), findings_of(layers_named(o.target)));
  if (o.json) {
    print_object(as_json(found, o.tolerance));
  } else {
    print(found, o.target);
    print_mistakes(found);
    print_findings(found);
    print_line(stdout, verdict(found), found.passed() ? "1;32" : "1;31");
  }
  return found.passed() ? 0 : 1;
}

}  // namespace

Command gradcheck_command() {
  return command<CheckOptions>(
      "gradcheck", "compare gradients with central differences, in float64",
      "heed gradcheck multi_head_attention", declare, run, Group::take_apart);
}

}  // namespace heed::cli
