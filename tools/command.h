// The header to include for writing a command of `heed`. A source cmd_<name>.cpp with a function
// Command <name>_command() is enough:
//
//   Command hello_command() {
//     return command<HelloOptions>("hello", "greets", "heed hello --twice", declare, run);
//   }
//
// declare(Arguments&, HelloOptions&) declares the arguments, run(const HelloOptions&) returns the
// exit code: 0, 1 if something failed. Errors are thrown: see autograd/base/error.h.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "autograd/base/error.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace heed {
struct Range;  // layers/config/fields.h
}

namespace heed::cli {

// Declares the arguments of a subcommand. Parsed values are written to the bound variables.
class Arguments {
 public:
  using Words = std::vector<std::pair<std::string, std::string>>;

  explicit Arguments(CLI::App& app) : app_(app) {}

  Arguments& positional(const std::string& name, std::string& value, const std::string& help,
                        bool required = true);
  // One that names a config: `run` gets its file (tools/commands/config_file.h).
  Arguments& config(const std::string& name, std::string& value, const std::string& help,
                    bool required = true);
  // RUN: a run. `run` gets its folder, also where it is one file (config_file.h).
  Arguments& run(std::string& value);
  Arguments& positionals(const std::string& name, std::vector<std::string>& values,
                         const std::string& help);
  Arguments& flag(const std::string& name, bool& value, const std::string& help);

  Arguments& required_option(const std::string& name, std::string& value, const std::string& help) {
    return positional(name, value, help);  // dashes make it an option
  }
  // T is std::string, int64_t, double or std::optional of one of them, or std::vector<std::string>
  // for an option that may be repeated. A number outside of the range is refused.
  template <class T>
  Arguments& option(const std::string& name, T& value, const std::string& help,
                    const Range& range = any()) {
    return add(name, &value, help, range);
  }

  // --threads, of every command that runs a model. Its number is set while the command line is
  // read: it holds from the start, and wins over OMP_NUM_THREADS.
  Arguments& threads();

  // The argument declared last, not a flag, names a file or folder: "" is refused. A shell puts it
  // where a variable is empty, and most functions take it for the current folder.
  Arguments& path();

  // Words that the argument declared last may be, with their help: for completion.
  Arguments& offers(const Words& words) { return offered[last_] = words, *this; }
  std::map<const CLI::Option*, Words> offered;

  const std::vector<std::string*>& configs() const { return configs_; }
  const std::vector<std::string*>& runs() const { return runs_; }

 private:
  using Value = std::variant<int64_t*, std::optional<int64_t>*, double*, std::optional<double>*,
                             std::string*, std::optional<std::string>*, std::vector<std::string>*>;

  static const Range& any();
  Arguments& add(const std::string& name, Value value, const std::string& help, const Range& range);
  Arguments& refuse_empty(const std::string& expected);

  CLI::App& app_;
  CLI::Option* last_ = nullptr;
  std::vector<std::string*> configs_, runs_;
};

// The headings of `heed --help`, in this order. Those that are hidden are for other programs.
enum class Group { learn, train, look, take_apart, exchange, extend, hidden };

struct Command {
  std::string name;
  std::string help;
  std::string example;
  Group group;
  // Declares the arguments and returns the function to run, which returns the exit code.
  std::function<std::function<int()>(Arguments& arguments)> declare;
  // Of several processes that a launcher has started, all run it (train/workers.h). Other
  // commands are run by the first one alone.
  bool with_workers = false;
  // Of a command that makes one file of a run: the folder of such a file; of any other its name.
  std::function<std::string(const std::string& path)> unpack = {};
};

// A command whose options are the members of a struct: declare(arguments, options), run(options).
template <class Options>
Command command(std::string name, std::string help, std::string example,
                void (*declare)(Arguments&, Options&), int (*run)(const Options&),
                Group group = Group::extend) {
  return {std::move(name), std::move(help), std::move(example), group, [=](Arguments& arguments) {
            auto options = std::make_shared<Options>();
            declare(arguments, *options);
            return [options, run] { return run(*options); };
          }};
}

inline Command with_workers(Command command) {
  command.with_workers = true;
  return command;
}

// Every command, those of the core first. The build writes this function: it calls
// <name>_command(), which cmd_<name>.cpp defines, in tools/commands or in the folder of an extra.
std::vector<Command> all_commands();

// The names of those that heed-f64 has: the commands of the core, and of extras that say so
// (heed_in_float64 in tools/cmake/extras.cmake). The build writes this function.
std::vector<std::string> commands_in_float64();

// Returns what shows the answers for `heed generate --show` and `--html`: it takes the object of
// --json, whose tokens also have their part of the text, as "text". Throws ConfigError for a page
// that must not be written, or if no extra has a source view_<name>.cpp. Its function <name>_view()
// is like this one, which the build writes and which calls it.
using AnswerView = std::function<void(const std::string& answers)>;
AnswerView answer_view(const std::string& run, bool on_terminal,
                       const std::optional<std::string>& html);

// Unless this program has the given precision, replaces the process by the sibling program that
// does, with the same arguments. A command that heed alone has answers about a config or a run of
// float64 in float32, and says so on standard error.
void require_precision(const std::string& precision);

// The same for a command that computes in one precision whatever a config says: from here on, runs
// of both are read in it.
void compute_in(const std::string& precision);

// What such an answer says about itself, for a page; "" for any other.
std::string note_on_precision();

}  // namespace heed::cli

namespace heed {

// Adds what the headers of the tools declare (HEED_RUN_HOOKS and others). The build writes this
// function.
void register_program_types();

}  // namespace heed
