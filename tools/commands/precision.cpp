#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "autograd/base/real.h"
#include "tools/commands/program.h"
#include "train/config/plugin_host.h"

namespace heed::cli {

namespace {
char** process_arguments = nullptr;
}

void set_process_arguments(char** arguments) { process_arguments = arguments; }

void require_precision(const std::string& precision) {
  if (precision == precision_name) {
    plugin_host().require_this_precision();
    return;
  }
  const std::string sibling = precision == "float64" ? "heed-f64" : "heed";
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / sibling;
  execv(program.c_str(), process_arguments);
  fail<IoError>(program.string(), ": ", std::strerror(errno), "; this program computes in ",
                precision_name, ", ", precision, " needs ", sibling,
                " beside it: in the source tree, ", "tools/build.sh ", sibling, " builds it");
}

}  // namespace heed::cli
