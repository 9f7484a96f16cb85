#include "tools/extras/configs/own_config.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <string_view>
#include <tuple>

#include "autograd/base/error.h"
#include "layers/config/left_out.h"
#include "layers/config/node.h"
#include "layers/text/display.h"
#include "tools/commands/config_file.h"
#include "tools/extras/configs/schema.h"
#include "tools/terminal/table.h"
#include "train/files/files.h"
#include "train/yaml/yaml.h"

namespace heed::cli {

namespace {

namespace fs = std::filesystem;

constexpr int64_t most_bytes = int64_t{1} << 30;  // of a config and of its data

// The quickstart, and configs of the first lessons in configs/README.md in their order.
constexpr std::array<std::string_view, 7> beginning{"quickstart",
                                                    "six_words",
                                                    "copy",
                                                    "reorder_translation",
                                                    "negation",
                                                    "shakespeare_char",
                                                    "shakespeare_self_attention_v2_leak"};

auto place_in_beginning(const std::string& name) {
  return std::find(beginning.begin(), beginning.end(), name) - beginning.begin();
}

// "" unless the file lies in extras/NAME/configs.
std::string extra_of_config(const fs::path& file) {
  const fs::path folder = file.parent_path().parent_path();
  return folder.parent_path().filename() == "extras" ? folder.filename().string() : "";
}

bool is_left_out(const std::string& extra) {
  const std::vector<LeftOut>& all = left_out();
  return std::any_of(all.begin(), all.end(),
                     [&](const LeftOut& one) { return one.extra == extra; });
}

// The scalars of the data section that name a file: its own, that of its validation part, and that
// of its tokenizer.
std::vector<const ConfigNode*> file_names(const ConfigNode& data) {
  std::vector<const ConfigNode*> found;
  for (const ConfigNode& node : data.children()) {
    if ((node.key() == "path" || node.key() == "validation") && node.is_scalar()) {
      found.push_back(&node);
    }
    const std::vector<const ConfigNode*> below = file_names(node);
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

// Where a file lies in the copy: where the config has it, or in data/ if that is outside.
fs::path place_of(const std::string& name) {
  const fs::path path = fs::path(name).lexically_normal();
  const bool outside = path.is_absolute() || *path.begin() == "..";
  return outside ? fs::path("data") / path.filename() : path;
}

// Replaces the name of a file by its place in the copy, in its line of the config.
void rename_in(std::vector<std::string>& lines, const ConfigNode& name) {
  const std::string place = place_of(name.text()).string();
  std::string& line = lines.at(static_cast<size_t>(name.mark().line - 1));
  const size_t at = line.find(name.text());
  require<ConfigError>(at != std::string::npos, to_text(name.mark()), ": ", name.path(),
                       ": expected the name of the file in one line");
  line.replace(at, name.text().size(), place);
}

}  // namespace

std::string about(const std::string& text) {
  std::string sentence;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && line.starts_with("#");) {
    const bool is_command = line.starts_with("#  ") || line.starts_with("# heed train ");
    if (is_command && !sentence.empty()) {
      break;
    }
    if (!is_command && line.size() > 2) {
      sentence += (sentence.empty() ? "" : " ") + line.substr(2);
    }
  }
  // Of "et al. (2015)" the point ends no sentence.
  for (size_t at = 0; (at = sentence.find(". ", at)) != std::string::npos; at += 2) {
    if (std::isupper(static_cast<unsigned char>(sentence[at + 2])) != 0) {
      sentence.resize(at);
      break;
    }
  }
  sentence.resize(sentence.find_last_not_of(".:") + 1);
  return sentence;
}

std::string headline(const std::string& about, size_t width) {
  if (display_width(about) <= width) {
    return about;
  }
  for (const std::vector<std::string>& ends :
       {std::vector<std::string>{": "}, {", ", "; ", " ("}}) {
    for (size_t at = about.size(); at-- > 1;) {
      const std::string part = about.substr(0, at);
      const bool is_end = std::find(ends.begin(), ends.end(), about.substr(at, 2)) != ends.end();
      if (is_end && display_width(part) <= width) {
        return part;
      }
    }
  }
  return shortened(about, width);
}

std::vector<OwnConfig> list_own_configs() {
  std::vector<OwnConfig> all;
  for (const auto& [name, file] : own_configs()) {
    const std::string extra = extra_of_config(file);
    if (!is_left_out(extra)) {
      all.push_back({name, file, extra, about(read_file(file, most_bytes)),
                     place_in_beginning(name) != std::ssize(beginning)});
    }
  }
  const auto place = [](const OwnConfig& config) {
    return std::tuple(place_in_beginning(config.name), config.to_begin_with ? "" : config.extra);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const OwnConfig& a, const OwnConfig& b) { return place(a) < place(b); });
  return all;
}

OwnConfig own_config(const std::string& name) {
  std::vector<std::string> known;
  for (const OwnConfig& config : list_own_configs()) {
    if (config.name == name) {
      return config;
    }
    known.push_back(config.name);
  }
  fail<ConfigError>("heed configs: there is no config ", printable(name),
                    known.empty() ? ", nor any other: share/heedgrad/configs is missing"
                                  : did_you_mean(name, known, "; heed configs lists all"));
}

std::vector<CopiedFile> copy_of(const OwnConfig& config) {
  const std::string text = read_file(config.file, most_bytes);
  const ConfigNode tree = parse_config(text, config.file.string());
  std::vector<CopiedFile> files;
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  for (const ConfigNode* name : file_names(tree.get("data"))) {
    const fs::path from = config.file.parent_path() / name->text();
    files.push_back({place_of(name->text()), read_file(from, most_bytes)});
    rename_in(lines, *name);
  }
  const std::string file = config.name + ".yaml";
  std::string copy = std::string("# yaml-language-server: $schema=") + schema_file + "\n";
  for (const std::string& line : lines) {
    copy += (line.starts_with("# heed train ") ? "# heed train " + file : line) + "\n";
  }
  files.insert(files.begin(), {file, copy});
  files.push_back({schema_file, config_schema()});
  return files;
}

void write_copy(const fs::path& folder, const std::vector<CopiedFile>& files) {
  std::vector<const CopiedFile*> missing;
  for (const CopiedFile& file : files) {
    const fs::path path = folder / file.path;
    const bool same =
        is_there(path) && fs::is_regular_file(path) && read_file(path, most_bytes) == file.text;
    require<ConfigError>(same || !is_there(path) || file.path == schema_file,
                         printable(path.string()),
                         ": is there already, with other contents; give another folder");
    if (!same) {
      missing.push_back(&file);
    }
  }
  for (const CopiedFile* file : missing) {
    const fs::path path = folder / file->path;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    require<IoError>(!error, printable(path.parent_path().string()),
                     ": cannot make the folder: ", error.message());
    write_file_atomically(path, file->text);
  }
}

}  // namespace heed::cli
