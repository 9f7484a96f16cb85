#include "tools/commands/config_file.h"

#include <vector>

#include "autograd/base/error.h"
#include "layers/text/display.h"
#include "train/files/files.h"

namespace heed::cli {

namespace fs = std::filesystem;

std::map<std::string, fs::path> own_configs() {
  std::map<std::string, fs::path> found;
  std::error_code error;
  const fs::path bin = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path built = bin / "share/heedgrad/configs";
  const fs::path folder =
      is_there(built) ? fs::canonical(built, error) : bin.parent_path() / "share/heedgrad/configs";
  for (const fs::directory_entry& file : fs::recursive_directory_iterator(folder, error)) {
    if (file.path().extension() == ".yaml") {
      found.emplace(file.path().stem().string(), file.path());
    }
  }
  return found;
}

std::optional<std::string> find_config(const std::string& argument) {
  std::error_code error;
  const bool is_bare = argument.find('/') == std::string::npos;
  if (is_bare && !fs::is_regular_file(argument, error) &&
      !is_there(fs::path(argument) / "config.yaml")) {
    const std::map<std::string, fs::path> own = own_configs();
    const auto at = own.find(argument);
    return fs::is_regular_file(argument + ".yaml", error) ? argument + ".yaml"
           : at != own.end()                              ? at->second.string()
           : is_there(argument)                           ? std::optional(argument)
                                                          : std::nullopt;
  }
  return argument;
}

std::string config_file(const std::string& argument) {
  if (const std::optional<std::string> found = find_config(argument)) {
    return *found;
  }
  std::vector<std::string> known;
  for (const auto& config : own_configs()) known.push_back(config.first);
  const std::string near = nearest(argument, known);
  fail<IoError>("cannot read the config ", printable(argument), ": there is no such file",
                near.empty() ? "" : "; heed has a config " + near);
}

}  // namespace heed::cli
