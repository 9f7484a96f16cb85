#include "tools/commands/output_file.h"

#include <algorithm>
#include <string_view>

#include "autograd/base/error.h"
#include "layers/text/display.h"
#include "train/files/files.h"

namespace heed::cli {

namespace fs = std::filesystem;

namespace {

constexpr size_t longest_path = 1000;  // in a message; longer ones are cut

// What heed keeps in a run folder and in a checkpoint.
constexpr std::string_view own_names[] = {"config.yaml",
                                          "metrics.csv",
                                          "samples.txt",
                                          "log.txt",
                                          "report.json",
                                          "report.html",
                                          ".lock",
                                          "checkpoints",
                                          "state.json",
                                          "model.safetensors",
                                          "optimizer.safetensors",
                                          "state.safetensors",
                                          "tokenizer.json",
                                          "vocabulary.json",
                                          "manifest.json"};

// Whether `path` is one of the files of a run or checkpoint, or lies in a run's folder of
// checkpoints, from which training removes what it takes for its own.
bool belongs_to_a_run(const fs::path& path) {
  const auto has = [&](const fs::path& folder, const char* name) {
    return is_there(folder / "config.yaml") && is_there(folder / name);
  };
  const fs::path folder = path.parent_path();
  for (fs::path at = folder; at.has_relative_path(); at = at.parent_path()) {
    if (at.filename() == "checkpoints" && has(at.parent_path(), "metrics.csv")) {
      return true;
    }
  }
  return (has(folder, "metrics.csv") || has(folder, "manifest.json")) &&
         std::find(std::begin(own_names), std::end(own_names), path.filename().string()) !=
             std::end(own_names);
}

}  // namespace

std::vector<InputFile> files_named_in(const ConfigNode& config, const fs::path& folder) {
  std::vector<InputFile> files;
  const ConfigNode& data = config.get("data").get("path");
  if (data.is_scalar()) {
    files.push_back({"the data", folder / data.text()});
  }
  const ConfigNode& tokenizer = config.get("data").get("tokenizer").get("path");
  if (tokenizer.is_scalar()) {
    files.push_back({"the tokenizer", folder / tokenizer.text()});
  }
  for (const ConfigNode& plugin : config.get("plugins").children()) {
    files.push_back({"a plugin", folder / plugin.text()});
  }
  return files;
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code unknown;
  // Of a file that is not there, y and ./y are the same only once they are absolute.
  const auto whole = [&](const fs::path& path) {
    return fs::weakly_canonical(fs::absolute(path, unknown), unknown);
  };
  const fs::path path = whole(a);  // empty if it cannot be followed
  return fs::equivalent(a, b, unknown) || (!path.empty() && path == whole(b));
}

void require_replaceable(const std::string& option, const fs::path& out,
                         const std::vector<InputFile>& inputs) {
  for (const InputFile& input : inputs) {
    require<ConfigError>(!same_file(out, input.path), option, " ",
                         printable(out.string(), longest_path), ": is ", input.what,
                         ", which is read; give another file");
  }
  require_outside_runs(option, out);
}

void require_outside_runs(const std::string& option, const fs::path& out) {
  std::error_code unknown;
  require<ConfigError>(!belongs_to_a_run(fs::weakly_canonical(fs::absolute(out, unknown), unknown)),
                       option, " ", printable(out.string(), longest_path),
                       ": is among the files that a run keeps for itself; give another name");
}

fs::path new_folder(const std::string& option, const std::string& given) {
  const fs::path path = given;
  fs::path folder = path.has_filename() ? path : path.parent_path();
  std::error_code unknown;
  require<ConfigError>(!fs::exists(fs::symlink_status(folder, unknown)), option, " ",
                       printable(folder.string(), longest_path),
                       ": is there already; give a folder that does not exist yet");
  require_outside_runs(option, folder);
  return folder;
}

void write_new_folder(const fs::path& folder, const std::function<void(const fs::path&)>& fill) {
  std::vector<fs::path> above;  // the lowest first
  std::error_code error;
  for (fs::path at = folder.parent_path(); !at.empty() && !fs::exists(at, error);
       at = at.parent_path()) {
    above.push_back(at);
  }
  const auto remove_those_above = [&] {
    for (const fs::path& each : above) {
      fs::remove(each, error);  // stays if something else has come into it
    }
  };
  try {
    if (!above.empty() && !fs::create_directories(above.front(), error) && error) {
      fail_errno(above.front(), "cannot make the folder", error.value());
    }
    write_folder_atomically(folder, fill, Existing::refuse);
  } catch (...) {
    remove_those_above();
    throw;
  }
}

}  // namespace heed::cli
