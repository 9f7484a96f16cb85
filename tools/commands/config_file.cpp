#include "tools/commands/config_file.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <sstream>

#include "layers/config/node.h"
#include "layers/config/text.h"
#include "layers/text/display.h"
#include "layers/text/utf8.h"
#include "tools/command.h"
#include "train/files/files.h"
#include "train/files/human_readable.h"
#include "train/files/temporary.h"

namespace heed::cli {

namespace fs = std::filesystem;

namespace {

// By what stands for it in messages: a text in place of a config, an unpacked run.
std::map<std::string, std::string> typed_as;

// Whether a text of any name is a config, perhaps one with mistakes: two of its lines begin with
// sections.
bool names_sections(std::string text) {
  std::replace(text.begin(), text.end(), '\r', '\n');
  static const std::set<std::string> sections{"data", "model",      "optimizer", "train",
                                              "eval", "checkpoint", "sample"};
  std::istringstream lines(text);
  std::set<std::string> found;
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find_first_not_of(" \t"), end = line.find(':');
    if (begin >= end || end == line.npos) continue;
    const std::string word = in_lower_case(line.substr(begin, end - begin));
    if (sections.contains(word)) found.insert(word);
  }
  return found.size() >= 2;
}

// A folder to train on. One with a config is what `heed configs NAME --copy NAME` made.
bool holds_texts(const fs::path& folder) {
  std::error_code error;
  bool texts = false;
  for (const fs::directory_entry& each : fs::directory_iterator(folder, error)) {
    if (each.path().extension() == ".yaml") return false;
    texts = texts || each.path().extension() == ".txt";
  }
  return texts;
}

}  // namespace

std::map<std::string, fs::path> own_configs() {
  std::map<std::string, fs::path> found;
  std::error_code error;
  const fs::path bin = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path share = "share/heedgrad";
  const fs::path folder = is_there(bin / share) ? bin / share : bin.parent_path() / share;
  for (const fs::directory_entry& file : fs::recursive_directory_iterator(
           folder, fs::directory_options::follow_directory_symlink, error)) {
    if (file.path().extension() == ".yaml") {
      found.emplace(file.path().stem().string(), fs::canonical(file.path(), error));
    }
  }
  return found;
}

std::optional<std::string> find_config(const std::string& argument) {
  std::error_code error;
  const bool is_bare = argument.find('/') == std::string::npos;
  if (is_bare && !fs::is_regular_file(argument, error) &&
      !is_there(fs::path(argument) / "config.yaml")) {
    if (fs::is_regular_file(argument + ".yaml", error)) return argument + ".yaml";
    const std::map<std::string, fs::path> own = own_configs();
    const auto at = own.find(argument);
    if (at == own.end()) return is_there(argument) ? std::optional(argument) : std::nullopt;
    require<ConfigError>(!holds_texts(argument), argument, ": is a folder of texts here, and a ",
                         "config of heed's; for the folder write ./", argument,
                         ", for the config change to another folder");
    return at->second.string();
  }
  return argument;
}

std::string config_file(const std::string& argument) {
  if (const std::optional<std::string> found = find_config(argument)) return *found;
  std::vector<std::string> known;
  for (const auto& config : own_configs()) known.push_back(config.first);
  const std::string near = nearest(argument, known);
  fail<IoError>("cannot read the config ", printable(argument), ": there is no such file",
                near.empty() ? "" : "; heed has a config " + near);
}

fs::path config_for_text(const std::string& argument, std::vector<std::string>& sets) {
  std::error_code unknown;
  const bool is_folder = fs::is_directory(argument, unknown);
  const bool is_packed = is_temporary(argument);
  require<ConfigError>(!is_folder || !is_there(fs::path(argument) / "config.yaml"),
                       printable(argument), ": is a run; heed train ",
                       is_packed ? "CONFIG --weights " : "--resume ", shell_word(argument),
                       is_packed ? " starts from its weights" : " goes on with it");
  const std::string extension = in_lower_case(fs::path(argument).extension().string());
  if (extension == ".yaml" || extension == ".yml" || extension == ".json" ||
      (!is_folder && !fs::is_regular_file(argument, unknown))) {
    return argument;
  }
  require<ConfigError>(extension != ".py", printable(argument), ": is a program, and no config of ",
                       "heed's, which are YAML (heed configs lists some); to train on it as a ",
                       "text: heed train quickstart --set data.path=", shell_word(argument));
  std::string begin(is_folder ? 0 : std::min<size_t>(1 << 16, fs::file_size(argument)), ' ');
  if (!is_folder) FileReader(argument).read(0, std::as_writable_bytes(std::span(begin)));
  if (names_sections(begin)) return argument;
  const auto yaml = [](const std::string& value) {
    const std::string line = to_yaml(ConfigNode(value));
    return line.substr(0, line.size() - 1);
  };
  for (const std::string& each : sets) {
    require<ConfigError>(!each.starts_with("data.path="), printable(argument), " and --set ",
                         printable(each), ": two texts; give one");
  }
  if (!begin.empty() && begin.find('\n') == begin.npos) {  // with which samples begin by default
    const std::string first = begin.substr(0, utf8_at(begin, 0).size);
    sets.insert(sets.begin(), "sample.prompt=" + yaml(first));
  }
  const std::string set = "data.path=" + yaml(argument);
  typed_as["--set " + set + ":1:11: data.path"] = argument;
  sets.insert(sets.begin(), set);
  const std::map<std::string, fs::path> own = own_configs();
  const auto quickstart = own.find("quickstart");
  return quickstart != own.end() ? quickstart->second : fs::path(config_file("quickstart"));
}

void require_once(const std::string& command, const std::string& option, bool given,
                  const std::vector<std::string>& sets, const std::string& key) {
  for (const std::string& each : sets) {
    require<ConfigError>(!given || !each.starts_with(key + "="), command, ": ", option,
                         " and --set ", printable(each), " are the same setting; give one");
  }
}

std::string unpacked(const std::string& run) {
  for (const Command& each : all_commands()) {
    if (!each.unpack) continue;
    const std::string folder = each.unpack(run);
    if (folder != run) typed_as[folder] = run;
    return folder;
  }
  return run;
}

std::string as_typed(std::string message) {
  for (const auto& [folder, typed] : typed_as) {
    for (size_t at = 0; (at = message.find(folder, at)) != message.npos; at += typed.size()) {
      message.replace(at, folder.size(), typed);
    }
  }
  return message;
}

}  // namespace heed::cli
