// heed: train toy transformers from a config, look at what attention does, check gradients.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>

#include "autograd/parallel.h"
#include "tools/command.h"

namespace heed::cli {

namespace {

enum ExitCode { done = 0, failed = 1, wrong_config = 2, diverged = 3 };

std::vector<Command> all_commands() {
  return {train_command(),   eval_command(),   generate_command(), gradcheck_command(),
          inspect_command(), layers_command(), validate_command(), info_command(),
          forward_command(), tour_command(),   bench_command()};
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

int run_guarded(const std::function<int()>& run) {
  try {
    return run();
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

int run(int count, char** arguments) {
  CLI::App app("heed: attention, from scratch, on your CPU");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("heedgrad ") + HEED_VERSION);
  app.failure_message(CLI::FailureMessage::simple);

  std::function<int()> chosen;
  for (const Command& command : all_commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.help);
    sub->footer("Example:\n  " + command.example);
    Arguments declared(*sub);
    sub->callback([&chosen, run = command.declare(declared)] { chosen = run; });
  }
  try {
    app.parse(count, arguments);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return wrong_config;
  }
  return run_guarded(chosen);
}

}  // namespace

}  // namespace heed::cli

int main(int count, char** arguments) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit becomes an error that is reported
  heed::cli::set_process_arguments(count, arguments);
  return heed::cli::run(count, arguments);
}
