// Files that a command writes under a name given by the user. They must not replace what it reads.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "layers/config/node.h"
#include "tools/commands/run_files.h"

namespace heed::cli {

// A file that a command reads, and its role: {"the config", "c.yaml"}.
struct InputFile {
  std::string what;
  std::filesystem::path path;
};

// The files that a config in `folder` names: data.path, data.tokenizer.path and plugins.
std::vector<InputFile> files_named_in(const ConfigNode& config,
                                      const std::filesystem::path& folder);

// Whether two paths name one file, which need not exist yet.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

// "wrote page.html (176 kB); open it in a browser: file:///home/me/page.html".
std::string written(const std::filesystem::path& file);

// Throws ConfigError if `out` is one of `inputs`, a file that no command has made, or not outside
// runs (run_files.h). Files of tensors have a key heedgrad in their metadata for that.
void require_replaceable(const std::string& option, const std::filesystem::path& out,
                         const std::vector<InputFile>& inputs);

// The page `name` of a run: in its folder or, of a packed run, which is unpacked for this command
// alone, in the current folder as RUN-name.
std::filesystem::path own_page(const std::filesystem::path& run, const std::string& name);

// The folder that `given` names, to be written by write_new_folder(). Throws ConfigError if it is
// not outside runs, or there is something of this name.
std::filesystem::path new_folder(const std::string& option, const std::string& given);

// Makes the folder, and those above it that are not there, and calls fill() for a temporary one in
// its place: completely, or nothing is left.
void write_new_folder(const std::filesystem::path& folder,
                      const std::function<void(const std::filesystem::path&)>& fill);

}  // namespace heed::cli
