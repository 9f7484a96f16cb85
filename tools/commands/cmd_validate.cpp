// heed validate: reports everything that `heed train` would report before its first step.
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tools/commands/config_file.h"
#include "tools/commands/run.h"
#include "tools/terminal/table.h"
#include "train/plan.h"

namespace heed::cli {

namespace {

struct ValidateOptions {
  std::string config;
  std::vector<std::string> sets;
  bool json = false;
  bool strict = false;
};

void declare(Arguments& arguments, ValidateOptions& o) {
  arguments.config("CONFIG", o.config, "the config to check")
      .option("--set", o.sets,
              "change a value: --set optimizer.lr=3e-4; may be repeated, the last one counts")
      .flag("--strict", o.strict, "warnings about the config are mistakes")
      .flag("--json", o.json,
            "one JSON object: ok and any warnings, or error, code and the mistakes");
}

int run(const ValidateOptions& o) {
  std::vector<std::string> sets = o.sets;
  const std::filesystem::path config = config_for_text(o.config, sets);
  RunTree tree = read_run_tree(config, sets);
  require_precision_of(tree);
  const LoadedRun loaded = load_run(std::move(tree), config.parent_path());
  const Plan plan = make_plan(loaded);
  if (!o.json) {
    if (config != o.config) print_line(stdout, quickstart_note);
    print_lines(stdout, describe(plan, loaded));
  }
  require_memory(plan);
  if (o.strict) {
    require_no_warnings(plan);
  }
  if (!o.json) {
    print_line(stdout, o.config + ": ok");
    return 0;
  }
  nlohmann::ordered_json object = {{"ok", true}};
  if (!plan.warnings.empty()) {
    object["warnings"] = plan.warnings;
  }
  print_object(object);
  return 0;
}

}  // namespace

Command validate_command() {
  return command<ValidateOptions>("validate", "check a config and show the plan, without training",
                                  "heed validate quickstart", declare, run, Group::train);
}

}  // namespace heed::cli
