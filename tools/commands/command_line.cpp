// The command line: its subcommands, parsing, and messages about what it does not know.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "layers/config/errors.h"
#include "layers/config/left_out.h"
#include "layers/text/display.h"
#include "tools/commands/config_file.h"
#include "tools/commands/program.h"
#include "tools/terminal/table.h"

namespace heed::cli {

namespace {

// In the order of `heed --help`.
std::vector<Command> grouped_commands() {
  std::vector<Command> commands = all_commands();
  std::stable_sort(commands.begin(), commands.end(),
                   [](const Command& a, const Command& b) { return a.group < b.group; });
  return commands;
}

// What to try first.
std::string first_commands() {
  Table table({Align::left, Align::left});
  for (const Command& command : grouped_commands()) {
    if (command.group == Group::learn) {
      table.add({"heed " + command.name, command.help});
    } else if (command.name == "train") {
      table.add({command.example.substr(0, command.example.find(" --")), command.help});
    }
  }
  table.add({"heed --help", "all commands"});
  std::string lines = table.text("  ");
  lines.pop_back();
  return lines;
}

// What to write instead of a command of other tools; "" if nothing is known.
std::string command_for(const std::string& word) {
  static const std::map<std::string, std::string> commands{
      {"evaluate", "heed eval"}, {"sample", "heed generate"},       {"fit", "heed train"},
      {"help", "heed --help"},   {"resume", "heed train --resume"}, {"version", "heed --version"}};
  const auto at = commands.find(word);
  return at == commands.end() ? "" : at->second;
}

// What to write instead of an unknown word, as the end of the message about it. `command` is null
// before one is known.
std::string way_out(const CLI::App& app, const CLI::App* command, const std::string& word) {
  const std::string name = command != nullptr ? command->get_name() : "";
  const std::string program = command != nullptr ? "heed " + name : "heed";
  const auto mean = [](const std::string& words) { return ", did you mean " + words + "?"; };
  const bool is_option = word.starts_with("-");
  if (is_option && command != nullptr && command->get_option_no_throw(word) != nullptr) {
    return "; it goes after the command: " + program + " " + word;
  }
  if (is_option && command != nullptr && app.get_option_no_throw(word) != nullptr) {
    const char* const file = word == "--plugin" ? " FILE " : " ";
    return "; it goes before the command: heed " + word + file + name;
  }
  if (command != nullptr && word == "help") return mean(program + " --help");
  if (const std::string extra = belongs_to_extra("command", word);
      command == nullptr && !extra.empty()) {
    return extra;
  }
  if (command == nullptr && !command_for(word).empty()) return mean(command_for(word));
  std::vector<std::string> known;
  if (is_option) {
    for (const CLI::Option* each : (command != nullptr ? *command : app).get_options()) {
      for (const std::string& own : each->get_lnames()) known.push_back("--" + own);
    }
  } else if (command == nullptr) {
    for (const Command& each : all_commands()) known.push_back(each.name);
  }
  return did_you_mean(word, known, "; see " + program + " --help");
}

// A one-line message about an invalid command line: the first unknown word with the nearest known
// one, else the message of CLI11.
std::string explain(const CLI::App& app, const CLI::Error& error) {
  const std::vector<const CLI::App*> chosen =
      app.get_subcommands([](const CLI::App* each) { return each->parsed(); });
  const CLI::App* const command = chosen.empty() ? nullptr : chosen.front();
  const std::string program = command != nullptr ? "heed " + command->get_name() : "heed";
  const std::vector<std::string> left = app.remaining(true);
  if (left.empty()) {
    std::string said = error.what();
    const std::string twice = "At Most 1 required but received ";
    if (said.find(twice) != said.npos)
      said.replace(said.find(twice), twice.size(), "expected once, got it ").append(" times");
    const bool no_command = command == nullptr && error.get_name() == "RequiredError";
    return no_command ? program + ": expected a command; to begin with:\n" + first_commands()
                      : program + ": " + printable_lines(said) + "; see " + program + " --help";
  }
  const std::string word = left.front().substr(0, left.front().find_first_of("=\0", 0, 2));
  const char* what = word.starts_with("-") ? "unknown option "
                     : command != nullptr  ? "unexpected argument "
                                           : "unknown command ";
  return program + ": " + what + printable(word) + way_out(app, command, word);
}

// The words after heed's name for CLI11, the last one first. `--name=` becomes `--name` and an
// empty word: otherwise CLI11 takes the next word as the value.
std::vector<std::string> words_for_parser(const CLI::App& app, int count, char** arguments) {
  std::vector<const CLI::App*> apps = app.get_subcommands([](const CLI::App*) { return true; });
  apps.push_back(&app);
  std::vector<std::string> words;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i], name = word.substr(0, word.find('='));
    const auto is_option = [&](const std::string& text, int values) {
      return std::any_of(apps.begin(), apps.end(), [&](const CLI::App* each) {
        const CLI::Option* const option = each->get_option_no_throw(text);
        return text.starts_with("--") && option && option->get_items_expected_max() >= values;
      });
    };
    const bool takes_value = is_option(name, 1);
    if (name != word && !takes_value && is_option(name, 0)) {
      throw CLI::ArgumentMismatch(word + ": expected " + name + " without a value");
    }
    const bool is_empty = takes_value && word == name + "=";
    words.push_back(is_empty ? name : word);
    // CLI11 takes a positional [a,b] apart. A NUL at its end, which Arguments removes, prevents it.
    if (!word.starts_with('-') && word.ends_with(']')) words.back().push_back('\0');
    if (is_empty || (takes_value && word == name && i + 1 < count)) {
      if (!is_empty && is_option(arguments[i + 1], 0)) {
        throw CLI::ArgumentMismatch(name + ": expected a value, got " + arguments[i + 1] +
                                    "; as a value: " + name + "=" + arguments[i + 1]);
      }
      words.emplace_back(is_empty ? "" : arguments[++i]);
    }
    if (word == "--") apps.clear();
  }
  return {words.rbegin(), words.rend()};
}

}  // namespace

Request parse(int count, char** arguments) {
  // Once a process, before commands declare their options: some are those of registered types.
  static const bool registered = (register_program_types(), true);
  static_cast<void>(registered);
  CLI::App app("heed: attention, from scratch, on your CPU");
  app.name(arguments[0])->require_subcommand(1);
  app.footer("NO_COLOR=1 turns colours off.");
  app.set_version_flag("--version", std::string("heedgrad ") + HEED_VERSION);

  Request request;
  app.add_option("--plugin", request.plugins,
                 "a library with your own layers, tasks, optimizers or schedules; goes before the "
                 "command, may come several times")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_flag("--trust-plugins", request.trust_plugins,
               "load the libraries too that a config or a run names; "
               "HEED_TRUST_PLUGINS=1 does the same");
  const std::vector<std::string_view> words(arguments, arguments + count);
  const std::vector<Command> commands = grouped_commands();
  const auto is_named = [&](const Command& command) {
    return std::find(words.begin(), words.end(), command.name) != words.end();
  };
  // Declares only the named command, to save time; without one, all commands but not their options.
  const bool named = std::any_of(commands.begin(), commands.end(), is_named);
  for (const Command& command : commands) {
    if (named && !is_named(command)) continue;
    constexpr std::array titles{"Learn", "Train", "Look", "Take apart", "Exchange", "Extend", ""};
    CLI::App* sub = app.add_subcommand(command.name, command.help)
                        ->group(titles.at(static_cast<size_t>(command.group)));
    if (!named) continue;
    sub->add_flag("--trust-plugins", request.trust_plugins)->group("");  // unlisted: it is heed's
    sub->footer("Example:\n  " + command.example);
    Arguments declared(*sub);
    const auto run = command.declare(declared);
    const CLI::Option* const json = sub->get_option_no_throw("--json");
    request.json =
        json != nullptr && std::find(words.begin(), words.end(), "--json") != words.end();
    sub->callback([&request, json, name = command.name, with_workers = command.with_workers, run,
                   configs = declared.configs(), runs = declared.runs()] {
      request.command = name;
      request.json = request.json && json->count() > 0;  // not as the value of another option
      request.with_workers = with_workers;
      request.run = [run, configs, runs] {
        for (std::string* config : configs) {
          *config = config->empty() ? "" : unpacked(config_file(*config));
        }
        for (std::string* each : runs) *each = unpacked(*each);
        return run();
      };
    });
  }
  try {
    app.parse(words_for_parser(app, count, arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_name() == "CallForHelp") {
      print_text(app.help());
      return {"", {}, done};
    }
    if (error.get_exit_code() == 0) {  // --version
      return {"", {}, app.exit(error)};
    }
    report(request, explain(app, error), wrong_config);
    return {"", {}, wrong_config};
  }
  return request;
}

}  // namespace heed::cli
