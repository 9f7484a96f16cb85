// heed configs: the configs that come with heed; shows one, copies one.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "layers/text/display.h"
#include "layers/text/fitted.h"
#include "tools/command.h"
#include "tools/commands/run_files.h"
#include "tools/extras/configs/own_config.h"
#include "tools/terminal/table.h"
#include "train/config/run_hooks.h"
#include "train/files/files.h"
#include "train/files/human_readable.h"

namespace heed::cli {

namespace {

namespace fs = std::filesystem;

struct ConfigsOptions {
  std::string name;
  std::optional<std::string> copy;
  bool json = false;
};

void declare(Arguments& arguments, ConfigsOptions& o) {
  arguments.positional("NAME", o.name, "one of them: prints it", false)
      .option("--copy", o.copy, "write a copy to change into this folder, with the data it needs")
      .path()
      .flag("--json", o.json, "one JSON object on standard output");
}

using ConfigsJson = nlohmann::ordered_json;

ConfigsJson as_json(const OwnConfig& config) {
  return {{"name", config.name},
          {"extra", config.extra},
          {"file", config.file.string()},
          {"about", config.about}};
}

std::string heading(const OwnConfig& config) {
  return config.to_begin_with   ? "to begin with"
         : config.extra.empty() ? "core"
                                : "extra " + config.extra;
}

// A line for each under headings. On a terminal none is broken.
std::string listing(const std::vector<OwnConfig>& all, std::optional<size_t> terminal) {
  std::string lines;
  for (auto first = all.begin(), last = first; first != all.end(); first = last) {
    size_t names = 0;
    for (; last != all.end() && heading(*last) == heading(*first); ++last) {
      names = std::max(names, display_width(last->name));
    }
    const size_t beside = names + 4;  // the indent, and the blanks before the second column
    const size_t width = terminal ? std::max(*terminal, beside) - beside : std::string::npos;
    Table table({Align::left, Align::left});
    for (auto config = first; config != last; ++config) {
      table.add({config->name, headline(config->about, width)});
    }
    lines += (lines.empty() ? "" : "\n") + heading(*first) + "\n" + table.text("  ");
  }
  return lines;
}

int list(bool json) {
  const std::vector<OwnConfig> all = list_own_configs();
  if (json) {
    ConfigsJson configs = ConfigsJson::array();
    for (const OwnConfig& config : all) {
      configs.push_back(as_json(config));
    }
    print_object(ConfigsJson({{"configs", configs}}));
    return 0;
  }
  require<IoError>(!all.empty(), "heed configs: share/heedgrad/configs is missing");
  print_text(listing(all, terminal_width(STDOUT_FILENO)));
  print_text(
      "\nheed train NAME trains one; heed configs NAME shows it, and with --copy DIR copies it, "
      "with its data.\n");
  return 0;
}

int copy(const OwnConfig& config, const fs::path& folder, bool json) {
  require_outside_runs("heed configs: --copy", folder / (config.name + ".yaml"));
  const std::vector<CopiedFile> files = copy_of(config);
  write_copy(folder, files);
  std::vector<std::string> written;
  for (const CopiedFile& file : files) {
    written.push_back((folder / file.path).string());
  }
  if (json) {
    print_object(ConfigsJson({{"written", written}}));
  } else {
    print_lines(stdout, written);
    print_text(text("\n  heed train ", shell_word(written.front()), "\n"));
  }
  return 0;
}

int run(const ConfigsOptions& o) {
  for_each_hook([](const RunHooks& each) { each.require_this_precision(); });
  if (o.name.empty()) {
    require<ConfigError>(!o.copy, "heed configs: --copy needs the NAME of a config");
    return list(o.json);
  }
  const OwnConfig config = own_config(o.name);
  if (o.copy) {
    return copy(config, *o.copy, o.json);
  }
  const std::string text = read_file(config.file, 1 << 20);
  if (o.json) {
    ConfigsJson json = as_json(config);
    json["text"] = text;
    print_object(json);
  } else {
    std::fputs(text.c_str(), stdout);
  }
  return 0;
}

}  // namespace

Command configs_command() {
  return command<ConfigsOptions>("configs", "the configs that come with heed; copies one to change",
                                 "heed configs quickstart --copy mine", declare, run, Group::train);
}

}  // namespace heed::cli
