#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "autograd/base/real.h"
#include "tools/commands/program.h"
#include "tools/terminal/table.h"
#include "train/config/run_hooks.h"

namespace heed::cli {

namespace {

struct Process {
  char** arguments = nullptr;
  bool has_float64 = true;  // whether heed-f64 has the command
  bool converts = false;    // whether this command has been asked about float64 and has not
  bool chosen = false;      // by compute_in()
};
Process process;

[[noreturn]] void become(const std::string& sibling) {
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / sibling;
  execv(program.c_str(), process.arguments);
  fail<IoError>(sibling, ", which computes in ", is_float64 ? "float32" : "float64",
                ", is not built yet: in the source tree, tools/build.sh ", sibling,
                " builds it in a few minutes (", program.string(), ": ", std::strerror(errno), ")");
}

// The first word that is neither an option nor the file of --plugin.
std::string_view command_in(const std::vector<std::string_view>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--plugin") {
      ++i;
    } else if (!words[i].starts_with("-")) {
      return words[i];
    }
  }
  return "";
}

}  // namespace

void set_process_arguments(int count, char** arguments) {
  process.arguments = arguments;
  const std::string_view command = command_in({arguments + 1, arguments + std::max(count, 1)});
  const std::vector<std::string> known = commands_in_float64();
  process.has_float64 = std::find(known.begin(), known.end(), command) != known.end();
  if (is_float64 && !process.has_float64) {
    become("heed");
  }
}

void require_precision(const std::string& precision) {
  if (process.chosen) return;
  if (precision == "float64" && !process.has_float64) {
    if (!std::exchange(process.converts, true)) {
      print_line(stderr, "heed: " + note_on_precision());
    }
  } else if (precision != precision_name) {
    become(precision == "float64" ? "heed-f64" : "heed");
  }
  for_each_hook([](const RunHooks& each) { each.require_this_precision(); });
}

void compute_in(const std::string& precision) {
  require_precision(precision);
  process.chosen = true;
}

std::string note_on_precision() {
  return process.converts ? "The config says precision: float64; this is computed in float32" : "";
}

}  // namespace heed::cli
