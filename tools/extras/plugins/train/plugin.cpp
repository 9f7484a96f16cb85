#include "tools/extras/plugins/train/plugin.h"

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "autograd/base/rethrow.h"
#include "train/config/resolve.h"
#include "train/files/files.h"
#include "train/files/human_readable.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

struct LoadedPlugin {
  fs::path path;  // absolute, under its float32 name
  bool from_command_line = false;
  std::string fingerprint = {};
};

struct Plugins {
  bool trusted = false;  // what a config names may be loaded
  std::vector<LoadedPlugin> loaded;
  std::map<std::pair<std::string, std::string>, std::string> types;  // of kind and name: which
  std::vector<std::string> of_other_precision;  // why load() has not loaded them
};

Plugins& plugins() {
  static Plugins& all = *new Plugins;
  return all;
}

constexpr std::string_view of_float64 = "-f64";

// libmine-f64.so -> libmine.so, absolute
fs::path float32_name(const fs::path& path) {
  std::string stem = path.stem().string();
  if (stem.ends_with(of_float64)) {
    stem.resize(stem.size() - of_float64.size());
  }
  return fs::absolute(path.parent_path() / (stem + path.extension().string())).lexically_normal();
}

fs::path float64_name(const fs::path& path) {
  const fs::path single = float32_name(path);
  return single.parent_path() /
         (single.stem().string() + std::string(of_float64) + single.extension().string());
}

// The build for this process's precision if it exists next to `path`, else one that exists.
fs::path of_this_precision(const fs::path& path) {
  const fs::path single = float32_name(path), twice = float64_name(path);
  for (const fs::path& file : {is_float64 ? twice : single, path, is_float64 ? single : twice}) {
    if (is_there(file)) {
      return file;
    }
  }
  return path;
}

// A plugin that fits but for its precision.
class OtherPrecision : public IoError {
  using IoError::IoError;
};

using BuildText = std::array<std::string, 3>;  // version, precision, standard library

// Splits "...|version|precision|standard library|...", starting at the first bar.
BuildText split_build(std::string_view text) {
  BuildText parts;
  for (std::string& part : parts) {
    text.remove_prefix(std::min(text.size(), text.find('|') + 1));
    part = printable(std::string(text.substr(0, text.find('|'))));
  }
  return parts;
}

void require_fitting(const std::string& file, const BuildText& plugin, const std::string& sibling) {
  const BuildText own = split_build(HEED_BUILD_TEXT);
  require<IoError>(plugin[0] == own[0], file, ": was built against heedgrad ", plugin[0],
                   ", this is heedgrad ", own[0], "; build the plugin again against this one");
  require<IoError>(plugin[2] == own[2], file, ": was built with the standard library ", plugin[2],
                   ", this heedgrad with ", own[2], "; build the plugin with the compiler flags ",
                   "that heedgrad was built with");
  require<OtherPrecision>(plugin[1] == own[1], file, ": was built for ", plugin[1],
                          ", this process computes in ", own[1], ", and there is no ", sibling,
                          " beside it; heedgrad_add_plugin in CMake builds both");
}

// True if the file ends where it says: dlopen() crashes on a library that is cut short.
bool is_whole_library(std::string_view bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  const uint64_t sections = uint64_t{header.e_shnum} * header.e_shentsize;  // at the file's end
  return bytes.starts_with(ELFMAG) && sections <= bytes.size() &&
         header.e_shoff <= bytes.size() - sections;
}

// The text of heed_plugin_identity, found among the bytes of a library as it is stored; "" if there
// is none. heedgrad's own libraries have its first words, but not its bars.
std::string identity_in(std::string_view bytes) {
  constexpr std::string_view start = "heedgrad plugin|";
  for (size_t at = bytes.find(start); at < bytes.size(); at = bytes.find(start, at + 1)) {
    const std::string_view identity = bytes.substr(at, bytes.find('\0', at) - at);
    if (std::count(identity.begin(), identity.end(), '|') == 4) return std::string(identity);
  }
  return "";
}

// Checks the identity that every plugin defines, before dlopen can run any of its code. This keeps
// out what does not fit; a library that means harm can say anything. Returns the file's checksum.
std::string require_plugin(const fs::path& file, const fs::path& path) {
  constexpr int64_t most = int64_t{1} << 30;
  const std::string bytes = read_file(file, most);
  const std::string identity = is_whole_library(bytes) ? identity_in(bytes) : "";
  require<IoError>(!identity.empty(), file.string(),
                   ": is not a plugin of heedgrad; heedgrad_add_plugin in CMake builds one");
  const fs::path sibling = is_float64 ? float64_name(path) : float32_name(path);
  require_fitting(file.string(), split_build(identity), sibling.string());
  return heed::fingerprint(as_bytes(bytes)).text();
}

void add_types(const std::string& name, PluginFunction function) {
  for (const auto pass : {PluginRegistration::Pass::look, PluginRegistration::Pass::add}) {
    PluginRegistration registration(name, pass);
    function(registration);
  }
}

void load_library(const fs::path& path, bool from_command_line) {
  const fs::path name = float32_name(path);
  std::vector<LoadedPlugin>& loaded = plugins().loaded;
  const bool known = std::any_of(loaded.begin(), loaded.end(),
                                 [&](const LoadedPlugin& other) { return other.path == name; });
  if (known) {
    return;
  }
  const fs::path file = of_this_precision(path);
  const std::string print = require_plugin(file, path);
  void* const handle = ::dlopen(fs::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = ::dlerror();
    fail<IoError>(file.string(), ": cannot be loaded: ", reason != nullptr ? reason : "no reason");
  }
  const auto function = reinterpret_cast<PluginFunction>(::dlsym(handle, "heed_plugin_add"));
  require<IoError>(function != nullptr, file.string(),
                   ": is not a plugin of heedgrad: it has no function heed_plugin_add");
  try {
    add_types(name.filename().string(), function);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    fail<IoError>(file.string(), ": its registration failed: ", error.what());
  } catch (...) {
    fail<IoError>(file.string(), ": its registration threw something other than a std::exception");
  }
  loaded.push_back({name, from_command_line, print});
}

// The plugin with this file name that was given on the command line; null if there is none.
const LoadedPlugin* allowed_by_name(const fs::path& name) {
  for (const LoadedPlugin& plugin : plugins().loaded) {
    if (plugin.from_command_line && plugin.path.filename() == name.filename()) {
      return &plugin;
    }
  }
  return nullptr;
}

void collect_types(const ConfigNode& node, std::vector<std::string>& types) {
  if (node.key() == "type" && node.is_scalar()) {
    types.push_back(node.text());
  }
  for (const ConfigNode& child : node.children()) {
    collect_types(child, types);
  }
}

}  // namespace

void PluginRegistration::require_free(const ConfigTypes& types, const std::string& name) const {
  if (types.find(name) == nullptr) {
    return;
  }
  const auto owner = plugins().types.find({types.kind(), name});
  fail<ConfigError>("plugin ", plugin_, ": the ", types.kind(), " name ", name, " is taken by ",
                    owner == plugins().types.end() ? "heedgrad itself" : owner->second,
                    "; give it another one");
}

void PluginRegistration::note(const std::string& kind, const std::string& name) const {
  plugins().types[{kind, name}] = plugin_;
}

void load_plugin(const fs::path& path) {
  require<IoError>(!path.empty(), "--plugin: expected the name of a library, got nothing");
  if (const auto other = error_of<OtherPrecision>([&] { load_library(path, true); })) {
    plugins().of_other_precision.push_back(*other);
  }
}

void DynamicPlugins::require_this_precision() const {
  const std::vector<std::string>& others = plugins().of_other_precision;
  require<IoError>(others.empty(), others.empty() ? "" : others.front());
}

bool DynamicPlugins::load_libraries(const std::vector<std::string>& named, bool trusted) {
  plugins().trusted = trusted;
  for (const std::string& plugin : named) load_plugin(plugin);
  return true;
}

void DynamicPlugins::before_reading(const ConfigNode& config, const fs::path& folder,
                                    ConfigErrors& errors) {
  require_this_precision();
  const ConfigNode& named = config.get("plugins");
  if (!named.is_list()) {
    return;  // reported when all sections are read
  }
  std::string unreadable;
  ConfigErrors taken;
  for (const ConfigNode& plugin : named.children()) {
    if (!plugin.is_scalar() || plugin.is_null()) {
      continue;  // reported too
    }
    if (plugin.text().empty()) {
      errors.add(plugin, "expected the name of a library, got nothing");
      continue;
    }
    if (allowed_by_name(float32_name(plugin.text())) != nullptr) {
      continue;
    }
    if (!plugins().trusted) {
      const std::string file = fs::absolute(of_this_precision(folder / plugin.text())).string();
      errors.add(plugin, "would run the code of a library; to allow it: heed --plugin ",
                 shell_word(file), " COMMAND ..., or any: heed --trust-plugins COMMAND ...");
      continue;
    }
    const auto load = [&] { load_library(folder / plugin.text(), false); };
    const auto wrong = error_of<IoError>([&] {
      if (const auto name = error_of<ConfigError>(load)) taken.add(plugin, *name);
    });
    if (wrong) {
      const bool there = is_there(folder / plugin.text());
      unreadable += text(unreadable.empty() ? "" : "\n", to_text(plugin.mark()),
                         plugin.mark().line > 0 ? ": " : "", plugin.path(), ": ", *wrong,
                         there ? "" : "; build it, or if it has moved: heed --plugin PATH/",
                         there ? "" : fs::path(plugin.text()).filename().string() + " COMMAND ...");
    }
  }
  taken.throw_if_any();
  require<IoError>(unreadable.empty(), unreadable);
}

namespace {

std::vector<std::string> needed_by(const ConfigNode& config, const fs::path& folder) {
  std::vector<std::string> types, needed;
  collect_types(config, types);
  const auto need = [&](const fs::path& path) {
    if (std::find(needed.begin(), needed.end(), path.string()) == needed.end()) {
      needed.push_back(path.string());
    }
  };
  for (const ConfigNode& plugin : config.get("plugins").children()) {
    const fs::path name = float32_name(folder / plugin.text());
    const LoadedPlugin* allowed = allowed_by_name(name);
    need(allowed != nullptr ? allowed->path : name);
  }
  for (const auto& [kind_and_name, owner] : plugins().types) {
    const bool used = std::find(types.begin(), types.end(), kind_and_name.second) != types.end();
    for (const LoadedPlugin& plugin : plugins().loaded) {
      if (used && plugin.path.filename() == owner) {
        need(plugin.path);
      }
    }
  }
  return needed;
}

}  // namespace

void DynamicPlugins::resolve(LoadedRun& run, const fs::path& folder) const {
  const std::vector<std::string> needed = needed_by(run.resolved, folder);
  for (const std::string& plugin : needed) {
    require_utf8_path("plugins", plugin);
  }
  run.resolved.erase("plugins");
  if (!needed.empty()) {
    run.resolved.set("plugins", ConfigNode::list({needed.begin(), needed.end()}));
  }
}

std::map<std::string, std::string> DynamicPlugins::made_with(const LoadedRun& run) const {
  std::map<std::string, std::string> all;
  for (const ConfigNode& named : run.resolved.get("plugins").children()) {
    std::string& checksum = all["plugin " + fs::path(named.text()).filename().string()];
    for (const LoadedPlugin& plugin : plugins().loaded) {
      if (plugin.path == named.text()) checksum = plugin.fingerprint;
    }
  }
  return all;
}

std::string DynamicPlugins::options(const LoadedRun& run) const {
  std::string all;
  for (const ConfigNode& plugin : run.resolved.get("plugins").children()) {
    all += " --plugin " + shell_word(plugin.text());
  }
  return all;
}

bool add_linked_plugin(const char* identity, PluginFunction function) {
  require_fitting("this program's plugin", split_build(identity), "other build");
  add_types("this program", function);
  return true;
}

}  // namespace heed
