// The subcommands, the parsing of a command line, and what becomes of errors.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <new>

#include "tools/command.h"
#include "train/plugin.h"

namespace heed::cli {

namespace {

enum ExitCode { done = 0, failed = 1, wrong_config = 2, diverged = 3 };

std::vector<Command> all_commands() {
  return {train_command(),    eval_command(),   generate_command(), gradcheck_command(),
          inspect_command(),  report_command(), layers_command(),   schema_command(),
          validate_command(), info_command(),   forward_command(),  tour_command(),
          bench_command(),    new_command()};
}

// Every line of a message on its own, after the program's name unless it begins with a place.
int report(const std::exception& error, ExitCode code) {
  std::fprintf(stderr, "heed: %s\n", error.what());
  return code;
}

int report_config(const ConfigError& error) {
  std::fprintf(stderr, "%s\n", error.what());  // file:line:column: ...
  return wrong_config;
}

}  // namespace

Request parse(int count, char** arguments) {
  CLI::App app("heed: attention, from scratch, on your CPU");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("heedgrad ") + HEED_VERSION);
  app.failure_message(CLI::FailureMessage::simple);

  Request request;
  app.add_option("--plugin", request.plugins,
                 "a library with layers, tasks, optimizers or schedules of one's own, before the "
                 "command; may come several times")
      ->type_name("FILE")
      ->allow_extra_args(false);
  for (const Command& command : all_commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.help);
    if (std::none_of(arguments, arguments + count,
                     [&](const char* word) { return word == command.name; })) {
      continue;  // its options are not asked for
    }
    sub->footer("Example:\n  " + command.example);
    Arguments declared(*sub);
    sub->callback([&request, name = command.name, run = command.declare(declared)] {
      request.command = name;
      request.run = run;
    });
  }
  try {
    app.parse(count, arguments);
  } catch (const CLI::Success& asked) {  // --help, --version
    return {"", {}, app.exit(asked)};
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return {"", {}, wrong_config};
  }
  return request;
}

int run(const Request& request) {
  if (!request.run) {
    return request.exit_code;
  }
  try {
    for (const std::string& plugin : request.plugins) {
      load_plugin(plugin);
    }
    return request.run();
  } catch (const ConfigError& error) {
    return report_config(error);
  } catch (const DivergedError& error) {
    return report(error, diverged);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "heed: out of memory\n");
    return failed;
  } catch (const std::exception& error) {
    return report(error, failed);
  }
}

}  // namespace heed::cli
