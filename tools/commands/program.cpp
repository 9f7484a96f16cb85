// Runs a command, and reports its errors.
#include "tools/commands/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>
#include <string_view>

#include "autograd/base/error.h"
#include "autograd/kernels/choice.h"
#include "layers/text/display.h"
#include "layers/text/fitted.h"
#include "layers/text/utf8.h"
#include "tools/commands/config_file.h"
#include "tools/terminal/table.h"
#include "train/config/run_config.h"
#include "train/config/run_hooks.h"
#include "train/workers.h"

namespace heed::cli {

namespace {

// The mistakes of a config for editors: [{file, line, column, path, message}, ...].
nlohmann::ordered_json mistakes_json(const std::vector<ConfigMistake>& mistakes) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const ConfigMistake& mistake : mistakes) {
    all.push_back({{"file", mistake.mark.file ? *mistake.mark.file : ""},
                   {"line", mistake.mark.line},
                   {"column", mistake.mark.column},
                   {"path", mistake.path},
                   {"message", mistake.message}});
  }
  return all;
}

// The line of a file at a place, with a caret below it, as compilers show them; "" without a line.
std::string excerpt(const ConfigMark& mark, size_t columns) {
  std::error_code error;
  std::string line;
  constexpr uintmax_t most_bytes = 1 << 20;  // of a config; of no file but a regular one
  if (mark.file && std::filesystem::file_size(*mark.file, error) <= most_bytes) {
    std::ifstream file(*mark.file);
    for (int64_t i = 0; i < mark.line && std::getline(file, line); ++i) {
    }
  }
  const std::string margin = text(" ", mark.line, " | ");
  std::string shown = margin, caret = std::string(margin.size() - 2, ' ') + "| ";
  const auto place = static_cast<size_t>(mark.column);
  for (size_t at = 0, column = 1; at < line.size() && column < place + columns; ++column) {
    const size_t size = std::max<size_t>(1, utf8_at(line, at).size);
    if (column + columns / 2 >= place) {  // characters far before the place are left out
      const std::string character = printable(line.substr(at, size));
      shown += character;
      caret += column < place ? std::string(display_width(character), ' ') : "";
    }
    at += size;
  }
  return line.empty() ? "" : shortened(shown, columns) + "\n" + caret + "^\n";
}

// The same for an error. One about a command line or a config begins with what it is about.
int report(const Request& request, const Error& error) {
  const auto* const all = dynamic_cast<const ListsMistakes*>(&error);
  const bool is_of_heed = all == nullptr && error.exit_code() != wrong_config;
  return report(request, text(is_of_heed ? "heed: " : "", error.what()), error.exit_code(),
                all != nullptr ? all->mistakes : std::vector<ConfigMistake>());
}

// The exit code of a command that returned `code`: failed if its output could not be written.
int after_output(int code) {
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0 && std::cout.good()) return code;
  std::fprintf(stderr, "heed: standard output: cannot write to it\n");
  return code == done ? failed : code;
}

}  // namespace

// Prints an error to standard error and, with --json, as one object to standard output. Returns the
// exit code.
int report(const Request& request, const std::string& said, int code,
           const std::vector<ConfigMistake>& mistakes) {
  const std::string message = as_typed(said);
  const auto columns = mistakes.empty() ? std::nullopt : terminal_width(STDERR_FILENO);
  std::istringstream lines(message);
  size_t number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    print_line(stderr, columns ? "error: " + line : line, columns ? "1" : "");
    if (columns && number < mistakes.size() && !line.starts_with("... ")) {
      std::fputs(excerpt(mistakes[number].mark, *columns).c_str(), stderr);
    }
  }
  if (request.json) {
    nlohmann::ordered_json object = {{"error", message}, {"code", code}};
    if (!mistakes.empty()) object["mistakes"] = mistakes_json(mistakes);
    print_object(object);
  }
  return code;
}

void occupy_standard_streams() {
  // Opened the wrong way round, so that reading and writing still fail.
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) < 0) {  // open() takes the lowest free number: this one
      open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
}

void load_libraries(const std::vector<std::string>& named, bool trusted) {
  bool loads = named.empty();
  for_each_hook([&](RunHooks& each) { loads = each.load_libraries(named, trusted) || loads; });
  if (!loads) {
    fail<IoError>("--plugin ", named.front(),
                  ": this build loads no libraries: it has no extra plugins (-DHEED_EXTRAS)");
  }
}

int run(const Request& request) {
  if (!request.run) {
    return after_output(request.exit_code);
  }
  try {
    if (!request.with_workers && !launched_workers()->leads()) {
      return done;
    }
    detail::kernel_in_use();  // throws early if HEED_KERNELS is invalid
    const char* const trust = std::getenv("HEED_TRUST_PLUGINS");
    load_libraries(request.plugins,
                   request.trust_plugins || (trust != nullptr && std::string_view(trust) == "1"));
    return after_output(request.run());
  } catch (const Error& error) {
    return report(request, error);
  } catch (const std::bad_alloc&) {
    return report(request, "heed: out of memory", failed);
  } catch (const std::exception& error) {
    return report(request, text("heed: ", error.what()), failed);
  } catch (...) {
    return report(request, "heed: a plugin threw something other than a std::exception", failed);
  }
}

}  // namespace heed::cli
