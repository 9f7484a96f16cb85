#include "tools/extras/configs/candidates.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <set>

#include "layers/config/types.h"
#include "layers/module/registry.h"
#include "tools/command.h"
#include "tools/commands/config_file.h"
#include "tools/extras/configs/config_keys.h"
#include "train/config/run_config.h"
#include "train/files/files.h"

namespace heed::cli {

namespace {

namespace fs = std::filesystem;

// Of heed itself, before the command.
const std::vector<Candidate> options_of_heed{
    {"--help", "all commands"},
    {"--plugin", "a library with your own types"},
    {"--trust-plugins", "load the libraries too that a config or a run names"},
    {"--version", ""}};

std::vector<Candidate> commands() {
  std::vector<Candidate> all;
  for (const Command& command : all_commands()) {
    if (command.group != Group::hidden) {
      all.push_back({command.name, command.help});
    }
  }
  return all;
}

void add_configs(Candidates& found) {
  for (const auto& config : own_configs()) {
    found.words.push_back({config.first, "a config of heed's"});
  }
}

// runs/NAME, the runs next to the one that is typed, and the checkpoints in it.
void add_runs(const std::string& typed, Candidates& found) {
  const auto add = [&](const fs::path& folder, const char* inside, const char* help) {
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; at != end && !error; at.increment(error)) {
      if (is_there(at->path() / inside)) {
        found.words.push_back({at->path().string(), help});
      }
    }
  };
  const fs::path above = fs::path(typed).parent_path();
  add("runs", "config.yaml", "a run");
  if (!above.empty() && above != "runs") {
    add(above, "config.yaml", above.filename() == "checkpoints" ? "a checkpoint" : "a run");
    add(above / "checkpoints", "config.yaml", "a checkpoint");
  }
  found.also = Names::folders;
}

void add_types(const ConfigTypes& types, Candidates& found) {
  for (const auto& [name, type] : types) {
    found.words.push_back({name, type.help});
  }
}

// What `heed layers NAME` describes.
void add_described(Candidates& found) {
  for (const FieldInfo& section : run_fields()) {
    found.words.push_back({section.name, section.help});
  }
  for (const char* kind : {"layer", "task", "tokenizer", "optimizer", "schedule", "adapter"}) {
    add_types(config_types(kind), found);
  }
}

// A command with its arguments as it declares them, and the words that follow it.
struct Line {
  explicit Line(const Command& of) : command(of) { of.declare(declared); }
  // What the command itself offers.
  Candidates offered(const CLI::Option& option) const {
    Candidates found;
    const auto at = declared.offered.find(&option);
    if (at == declared.offered.end()) return found;
    for (const auto& [word, help] : at->second) found.words.push_back({word, help});
    return found;
  }
  const Command& command;
  CLI::App app;
  Arguments declared{app};
  std::string config;             // the first word that is no option
  std::vector<std::string> sets;  // so far
  size_t positionals = 0;         // so far
};

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// What may be the value of an option.
Candidates values_of_option(const Line& line, const CLI::Option& option, const std::string& typed) {
  const std::string name = option.get_name();
  Candidates found = line.offered(option);
  const bool is_file = found.words.empty() && name != "--resume";
  if (name == "--set") {
    return config_keys(typed, line.config, line.sets);
  }
  if (name == "--resume" || name == "--weights") {
    add_runs(typed, found);
  }
  if (is_file && option.get_type_name() == "TEXT") {
    found.also = Names::files;
  }
  return found;
}

// What may be the positional argument of this number.
Candidates values_of_positional(const Line& line, const std::string& typed) {
  Candidates found;
  const std::vector<const CLI::Option*> declared =
      line.app.get_options([](const CLI::Option* option) { return option->get_positional(); });
  if (declared.empty()) {
    return found;
  }
  const CLI::Option& option = *declared[std::min(line.positionals, declared.size() - 1)];
  if (line.positionals >= declared.size() && option.get_items_expected_max() < 2) {
    return found;
  }
  found = line.offered(option);
  const std::string name = option.get_single_name();
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (has("CONFIG") || (name == "NAME" && line.command.name == "configs")) {
    add_configs(found);
  }
  if (has("LAYER")) {
    add_types(layer_registry().types(), found);
  }
  if (name == "NAME" && line.command.name == "layers") {
    add_described(found);
  }
  if (has("RUN")) {
    add_runs(typed, found);
  }
  if (has("CONFIG") || has("FILE")) {
    found.also = Names::files;
  } else if (has("DIR")) {
    found.also = Names::folders;
  }
  return found;
}

// All options, but those given already that count once.
Candidates option_names_of(const Line& line, const std::vector<std::string>& before) {
  Candidates found;
  for (const CLI::Option* option : line.app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const std::string word = "--" + name;
      const bool given = std::find(before.begin(), before.end(), word) != before.end();
      if (!given || option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll ||
          name == "set") {
        found.words.push_back({word, option->get_description()});
      }
    }
  }
  return found;
}

Candidates after_command(Line& line, const std::vector<std::string>& words) {
  const CLI::Option* waiting = nullptr;  // an option that needs a value
  for (size_t k = 0; k + 1 < words.size(); ++k) {
    if (waiting != nullptr) {
      if (waiting->get_name() == "--set") {
        line.sets.push_back(words[k]);
      }
      waiting = nullptr;
    } else if (words[k].starts_with("--set=")) {
      line.sets.push_back(words[k].substr(6));
    } else if (words[k].starts_with("-")) {
      const CLI::Option* const option = line.app.get_option_no_throw(words[k]);
      waiting = option != nullptr && takes_value(*option) ? option : nullptr;
    } else {
      line.config = line.positionals++ == 0 ? words[k] : line.config;
    }
  }
  const std::string& typed = words.back();
  if (waiting != nullptr) {
    return values_of_option(line, *waiting, typed);
  }
  if (!typed.starts_with("-")) {
    return values_of_positional(line, typed);
  }
  const size_t equals = typed.find('=');
  if (equals == std::string::npos) {
    return option_names_of(line, words);
  }
  const CLI::Option* const option = line.app.get_option_no_throw(typed.substr(0, equals));
  if (option == nullptr || !takes_value(*option)) {
    return {};
  }
  Candidates found = values_of_option(line, *option, typed.substr(equals + 1));
  for (Candidate& candidate : found.words) {
    candidate.word = typed.substr(0, equals + 1) + candidate.word;
  }
  return found;
}

Candidates all_candidates(const std::vector<std::string>& words) {
  size_t at = 0;
  for (; at + 1 < words.size() && words[at].starts_with("-"); ++at) {
    if (words[at] == "--plugin" && ++at + 1 >= words.size()) {
      return {{}, Names::files};
    }
  }
  if (at + 1 >= words.size()) {
    return {words.back().starts_with("-") ? options_of_heed : commands(), Names::none};
  }
  const std::vector<Command> known = all_commands();
  const auto command = std::find_if(known.begin(), known.end(),
                                    [&](const Command& one) { return one.name == words[at]; });
  if (command == known.end() || command->group == Group::hidden) {
    return {};
  }
  Line line(*command);
  return after_command(line, {words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end()});
}

}  // namespace

Candidates candidates(const std::vector<std::string>& words) {
  Candidates found = words.empty() ? Candidates{} : all_candidates(words);
  std::set<std::string> seen;  // "linear" is both a layer and a schedule
  std::erase_if(found.words, [&](const Candidate& candidate) {
    return !candidate.word.starts_with(words.back()) || !seen.insert(candidate.word).second;
  });
  return found;
}

}  // namespace heed::cli
