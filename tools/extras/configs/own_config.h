// A config that comes with heed: what it says about itself, and a copy of it to change.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed::cli {

struct OwnConfig {
  std::string name;            // "quickstart"
  std::filesystem::path file;  // absolute
  std::string extra;           // that it belongs to; "" for one of the core
  std::string about;           // one sentence
  bool to_begin_with = false;  // a lesson of configs/README.md
};

// All that this build can train: first those to begin with, then the others of the core, then extra
// by extra, each sorted by name.
std::vector<OwnConfig> list_own_configs();

// Throws ConfigError, with the nearest name, if there is none.
OwnConfig own_config(const std::string& name);

// The first sentence of the comment that a config begins with, after the line with its command.
std::string about(const std::string& text);

// As much of that sentence as ends well and takes at most `width` columns: all of it, or the part
// before a colon, or else before a comma, semicolon or bracket.
std::string headline(const std::string& about, size_t width);

// A file to write, relative to the folder of the copy.
struct CopiedFile {
  std::filesystem::path path;
  std::string text;
};

// The config, the files that it names, and the JSON Schema that its first line names for editors.
// Files of other folders go to data/, and the config is changed to name them there.
std::vector<CopiedFile> copy_of(const OwnConfig& config);

// Writes them into the folder, which is made if need be. What is there with the same bytes stays;
// throws ConfigError, before anything is written, if there is something else by one of the names.
// The schema is replaced: it belongs to the version of heed.
void write_copy(const std::filesystem::path& folder, const std::vector<CopiedFile>& files);

inline constexpr const char* schema_file = "heed.schema.json";

}  // namespace heed::cli
