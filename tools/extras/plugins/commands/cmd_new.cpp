// heed new: generates a layer, an operation or a task that builds, passes its tests and trains as
// it is, as a starting point for your own.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "tools/command.h"
#include "tools/commands/run_files.h"
#include "tools/extras/plugins/new_templates.h"
#include "tools/extras/plugins/plugin_project.h"
#include "tools/extras/report/pages/output_file.h"
#include "tools/terminal/table.h"
#include "train/data/task.h"
#include "train/files/files.h"
#include "train/files/human_readable.h"
#include "train/files/on_failure.h"

namespace heed::cli {

namespace {

namespace fs = std::filesystem;

struct NewOptions {
  std::string kind;
  std::string name;
  std::optional<std::string> dir;
};

void declare(Arguments& arguments, NewOptions& o) {
  arguments.positional("KIND", o.kind, "layer, op or task")
      .offers({{"layer", ""}, {"op", ""}, {"task", ""}})
      .positional("NAME", o.name, "what it is to be called, in snake_case")
      .option("--dir", o.dir,
              "the folder to write into (default: the one you are in, if it is such a project; "
              "else NAME)")
      .path();
}

void check_kind(const std::string& kind) {
  const std::vector<std::string> kinds{"layer", "op", "task"};
  require<ConfigError>(std::find(kinds.begin(), kinds.end(), kind) != kinds.end(),
                       "heed new: expected layer, op or task, got ", printable(kind),
                       did_you_mean(kind, kinds));
}

// C++ keywords, CMake targets and heedgrad classes that the name would conflict with.
const std::vector<std::string> reserved{
    "alignas",   "alignof",      "all",           "and",         "and_eq",
    "array",     "asm",          "auto",          "batch",       "bitand",
    "bitor",     "bool",         "break",         "case",        "catch",
    "char",      "child",        "class",         "clean",       "co_await",
    "co_return", "co_yield",     "compl",         "concept",     "config",
    "const",     "const_cast",   "consteval",     "constexpr",   "constinit",
    "continue",  "decltype",     "default",       "delete",      "do",
    "double",    "dynamic_cast", "else",          "enum",        "error",
    "explicit",  "export",       "extern",        "false",       "fields",
    "float",     "for",          "friend",        "goto",        "heed",
    "heedgrad",  "help",         "ids",           "if",          "init",
    "inline",    "input",        "install",       "int",         "layer",
    "long",      "made",         "main",          "mask",        "mine",
    "module",    "mutable",      "namespace",     "new",         "noexcept",
    "not",       "not_eq",       "nullptr",       "op",          "operator",
    "or",        "or_eq",        "package",       "parameter",   "private",
    "protected", "public",       "real",          "register",    "reinterpret_cast",
    "requires",  "return",       "shape",         "short",       "signed",
    "sizeof",    "static",       "static_assert", "static_cast", "std",
    "struct",    "switch",       "task",          "template",    "tensor",
    "test",      "this",         "thread_local",  "throw",       "true",
    "try",       "typedef",      "typeid",        "typename",    "union",
    "unsigned",  "using",        "virtual",       "void",        "volatile",
    "wchar_t",   "while",        "xor",           "xor_eq"};

void check_name(const NewOptions& o) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  const std::string& name = o.name;
  require<ConfigError>(!name.empty() && name.size() <= 60 &&
                           std::all_of(name.begin(), name.end(), plain) && name[0] >= 'a' &&
                           name.back() != '_' && name.find("__") == std::string::npos,
                       "heed new: expected a NAME in snake_case, \"my_", o.kind, "\", got ",
                       name.empty() ? "nothing" : printable(name));
  require<ConfigError>(std::find(reserved.begin(), reserved.end(), name) == reserved.end(),
                       "heed new: ", name, " means something in C++, CMake or heedgrad already; ",
                       "take another NAME");
  const bool taken = layer_registry().types().find(name) != nullptr ||
                     task_registry().types().find(name) != nullptr;
  require<ConfigError>(!taken, "heed new: heedgrad has a ", name, "; take another NAME");
}

// "my_layer" -> "MyLayer"
std::string class_name(const std::string& snake) {
  std::string name;
  bool upper = true;
  for (const char c : snake) {
    if (c != '_') {
      name += static_cast<char>(upper && c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    upper = c == '_';
  }
  return name;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string filled_in(const std::string& text, const NewOptions& o) {
  const std::string stand_in = "my_" + o.kind;
  return replaced(replaced(text, stand_in, o.name), class_name(stand_in), class_name(o.name));
}

// The CMake option to find the heedgrad package that this program belongs to; "" if it is in a
// standard prefix.
std::string prefix_option() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& prefix : {folder, folder.parent_path()}) {
    const bool usual = prefix == "/usr" || prefix == "/usr/local";
    if (!usual && fs::exists(prefix / "lib/cmake/heedgrad/heedgradConfig.cmake", error)) {
      return " -DCMAKE_PREFIX_PATH=" + shell_word(prefix.string());
    }
  }
  return "";
}

constexpr const char* cmake_file = "CMakeLists.txt";
constexpr int64_t most_of_cmake = 1'000'000;  // bytes that are read

fs::path cmake_in(const fs::path& folder) { return (folder / cmake_file).lexically_normal(); }

// The project in a folder; absent if there is none that builds plugins.
std::optional<PluginProject> project_in(const fs::path& folder) {
  std::error_code error;
  const fs::path file = folder / cmake_file;
  if (!fs::is_regular_file(file, error)) {
    return {};
  }
  PluginProject project(read_file(file, most_of_cmake));
  return project.calls() ? std::optional(std::move(project)) : std::nullopt;
}

using NewFiles = std::vector<std::pair<fs::path, std::string>>;

// The files of a template with their texts, all in `folder`, which may have a project already.
NewFiles files_for(const NewOptions& o, const fs::path& folder, const PluginProject* project) {
  NewFiles files;
  for (const TemplateFile& file : new_templates()) {
    const std::string path = file.path, stand_in = "my_" + o.kind;
    if (!path.starts_with(o.kind + "/") || (project != nullptr && path.ends_with(cmake_file))) {
      continue;
    }
    std::string text = file.text;
    if (project != nullptr && !project->plugin().empty()) {
      text = replaced(text, "lib" + stand_in + ".so", "lib" + project->plugin() + ".so");
    }
    files.emplace_back((folder / filled_in(path.substr(o.kind.size() + 1), o)).lexically_normal(),
                       filled_in(text, o));
  }
  return files;
}

// Nothing is ever written over.
void require_new(const NewFiles& files) {
  std::error_code error;
  for (const auto& [path, text] : files) {
    require_outside_runs("heed new:", path);
    require<ConfigError>(!fs::exists(fs::symlink_status(path, error)), "heed new: ", path.string(),
                         path.filename() == cmake_file
                             ? " is there already, without a heedgrad_add_plugin to add to"
                             : " is there already",
                         "; nothing was written; give another NAME or --dir");
  }
}

PluginFiles as_plugin_files(const NewFiles& files) {
  PluginFiles lists;
  for (const auto& [path, text] : files) {
    const std::string name = path.filename().string(), extension = path.extension().string();
    (extension == ".h"     ? lists.headers
     : extension == ".cpp" ? lists.tests
                           : lists.configs)
        .push_back(name);
  }
  return lists;
}

// Writes the files into a folder that is there, and lists them in its project if that can be
// changed: all of this, or nothing.
void add_to(const fs::path& folder, const NewFiles& files, const PluginProject* project) {
  std::vector<fs::path> written;
  const OnFailure remove([&] {
    std::error_code ignored;
    for (const fs::path& path : written) {
      fs::remove(path, ignored);
    }
  });
  for (const auto& [path, text] : files) {
    write_file_atomically(path, text);
    written.push_back(path);
  }
  if (project != nullptr && !project->plugin().empty()) {
    write_file_atomically(cmake_in(folder), project->with(as_plugin_files(files)));
  }
}

// Writes the files, which are all in `folder`: all of them, or nothing is left.
void write_files(const fs::path& folder, const NewFiles& files, const PluginProject* project) {
  std::error_code error;
  if (fs::exists(folder, error)) {
    add_to(folder, files, project);
    return;
  }
  write_new_folder(folder, [&](const fs::path& inside) {
    for (const auto& [path, text] : files) {
      write_file_atomically(inside / path.filename(), text);
    }
  });
}

// The files, and where they are listed or the line that would list them.
void print_written(const NewOptions& o, const fs::path& folder, const NewFiles& files,
                   const PluginProject* project) {
  for (const auto& [path, text] : files) {
    print_line(stdout, path.string());
  }
  if (o.kind == "op") {
    print_text(text(o.name, "_layer.h and ", o.name, ".yaml train a model with the operation; an ",
                    "operation alone needs neither them nor the last test\n"));
  }
  if (project == nullptr) {
    return;
  }
  const std::string cmake = cmake_in(folder).string();
  print_line(stdout, project->plugin().empty()
                         ? text("\nTo build them, add this line to ", cmake, ":\n  ",
                                plugin_line(o.name, as_plugin_files(files)))
                         : text(cmake, ": they are listed in heedgrad_add_plugin(",
                                project->plugin(), " ...) now"));
}

int run(const NewOptions& given) {
  NewOptions o = given;
  o.kind = o.kind == "operation" ? "op" : o.kind;
  check_kind(o.kind);
  check_name(o);
  std::optional<PluginProject> project = project_in(o.dir.value_or("."));
  fs::path folder = o.dir ? *o.dir : project ? "." : o.name;
  folder = folder.has_filename() ? folder : folder.parent_path();
  if (!o.dir && !project) {
    project = project_in(folder);
  }
  const PluginProject* const existing = project ? &*project : nullptr;
  const NewFiles files = files_for(o, folder, existing);
  require_new(files);
  write_files(folder, files, existing);
  print_written(o, folder, files, existing);
  const std::string at = shell_word(folder.string());
  const std::string build = shell_word((folder / "build").lexically_normal().string());
  const std::string config = (folder / (o.name + ".yaml")).lexically_normal().string();
  std::printf(
      "\nBuild and test it, then train with it:\n  cmake -S %s -B %s%s\n"
      "  cmake --build %s -j$(nproc) && ctest --test-dir %s --output-on-failure\n"
      "  heed --trust-plugins train %s\n",
      at.c_str(), build.c_str(), prefix_option().c_str(), build.c_str(), build.c_str(),
      shell_word(config).c_str());
  return 0;
}

}  // namespace

Command new_command() {
  return command<NewOptions>("new", "write a start for a layer, operation or task of your own",
                             "heed new layer my_attention", declare, run);
}

}  // namespace heed::cli
