// Subcommands of `heed`: one file each, listed in program.cpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autograd/base/error.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace heed::cli {

// Declares the arguments of a subcommand. Parsed values are written to the bound variables.
class Arguments {
 public:
  explicit Arguments(CLI::App& app) : app_(app) {}

  Arguments& positional(const std::string& name, std::string& value, const std::string& help,
                        bool required = true);
  Arguments& positionals(const std::string& name, std::vector<std::string>& values,
                         const std::string& help);
  Arguments& flag(const std::string& name, bool& value, const std::string& help);

  Arguments& required_option(const std::string& name, std::string& value, const std::string& help);
  // T is std::string, int64_t, double or std::optional of one of them, or std::vector<std::string>
  // for an option that may be repeated.
  template <class T>
  Arguments& option(const std::string& name, T& value, const std::string& help);

  // --threads, of every command that runs a model. Its number is set while the command line is
  // read: it holds from the start, and wins over OMP_NUM_THREADS.
  Arguments& threads();

  // The argument declared last, not a flag, names a file or folder: "" is refused. A shell puts it
  // where a variable is empty, and most functions take it for the current folder.
  Arguments& path();

 private:
  CLI::App& app_;
  CLI::Option* last_ = nullptr;
};

struct Command {
  std::string name;
  std::string help;
  std::string example;
  // Declares the arguments and returns the function to run, which returns the exit code.
  std::function<std::function<int()>(Arguments& arguments)> declare;
};

// A command whose options are the members of a struct: declare(arguments, options), run(options).
template <class Options>
Command command(std::string name, std::string help, std::string example,
                void (*declare)(Arguments&, Options&), int (*run)(const Options&)) {
  return {std::move(name), std::move(help), std::move(example), [=](Arguments& arguments) {
            auto options = std::make_shared<Options>();
            declare(arguments, *options);
            return [options, run] { return run(*options); };
          }};
}

// Each is defined in cmd_<name>.cpp; program.cpp lists them.
Command train_command();
Command eval_command();
Command generate_command();
Command gradcheck_command();
Command inspect_command();
Command probe_command();
Command explain_command();
Command report_command();
Command layers_command();
Command schema_command();
Command validate_command();
Command data_command();
Command info_command();
Command forward_command();
Command tour_command();
Command bench_command();
Command new_command();
Command tokenizer_command();
Command import_command();
Command export_command();

// A parsed command line.
struct Request {
  std::string command;
  std::function<int()> run;               // empty: help was shown or the command line is invalid
  int exit_code = 0;                      // used if `run` is empty
  std::vector<std::string> plugins = {};  // to load before running
  bool trust_plugins = false;             // load those too that a config names
  bool json = false;                      // --json: an error is printed as JSON too
};
Request parse(int count, char** arguments);

// Runs the request, reports errors and returns the exit code.
int run(const Request& request);

// Opens /dev/null for each of the descriptors 0 to 2 that is closed, before any other file is
// opened. Otherwise a file of a run could get such a number, and output for the terminal would be
// written into it.
void occupy_standard_streams();

// The arguments of the process, as main() got them.
void set_process_arguments(int count, char** arguments);

// Unless this program has the given precision, replaces the process by the sibling program that
// does, with the same arguments.
void require_precision(const std::string& precision);

}  // namespace heed::cli
