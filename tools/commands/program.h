// The program: its command line, and how it reports errors.
#pragma once

#include <string>
#include <vector>

#include "layers/config/errors.h"
#include "tools/command.h"

namespace heed::cli {

constexpr int done = 0, failed = 1, wrong_config = 2;  // exit codes; others are those of errors

// A parsed command line.
struct Request {
  std::string command;
  std::function<int()> run;               // empty: help was shown or the command line is invalid
  int exit_code = 0;                      // used if `run` is empty
  std::vector<std::string> plugins = {};  // to load before running
  bool trust_plugins = false;             // load those too that a config names
  bool json = false;                      // --json: an error is printed as JSON too
  bool with_workers = false;              // of the command
};
Request parse(int count, char** arguments);

// Prints an error to standard error and, with --json, as one object to standard output. Returns the
// exit code.
int report(const Request& request, const std::string& message, int code,
           const std::vector<ConfigMistake>& mistakes = {});

// Runs the request, reports errors and returns the exit code.
int run(const Request& request);

// Opens /dev/null for each of the descriptors 0 to 2 that is closed, before any other file is
// opened. Otherwise a file of a run could get such a number, and output for the terminal would be
// written into it.
void occupy_standard_streams();

// The arguments of the process, as main() got them. If this is heed-f64 and they name none of its
// commands, replaces the process by heed, which has them all.
void set_process_arguments(int count, char** arguments);

}  // namespace heed::cli
