// heed new: generates a layer, an operation or a task that builds, passes its tests and trains as
// it is, as a starting point for your own.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "tools/commands/command.h"
#include "tools/commands/new_templates.h"
#include "tools/terminal/table.h"
#include "train/data/task.h"
#include "train/files/files.h"
#include "train/files/words.h"

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
      .positional("NAME", o.name, "what it is to be called, in snake_case")
      .option("--dir", o.dir, "the folder to write into (default: NAME)");
}

void check_kind(const std::string& kind) {
  const std::vector<std::string> kinds{"layer", "op", "task"};
  const std::string near = nearest(kind, kinds);
  require<ConfigError>(std::find(kinds.begin(), kinds.end(), kind) != kinds.end(),
                       "heed new: expected layer, op or task, got ", printable(kind),
                       near.empty() ? "" : ", did you mean " + near + "?");
}

// C++ keywords, CMake targets and heedgrad classes that the name would conflict with.
const std::vector<std::string> reserved{
    "all",      "and",    "array",    "auto",    "batch",     "bool",    "break",  "case",
    "catch",    "char",   "child",    "class",   "clean",     "config",  "const",  "delete",
    "double",   "else",   "enum",     "error",   "export",    "false",   "fields", "float",
    "for",      "friend", "help",     "heed",    "ids",       "if",      "init",   "input",
    "install",  "int",    "long",     "made",    "mask",      "mine",    "module", "new",
    "not",      "or",     "or_eq",    "package", "parameter", "private", "public", "real",
    "register", "return", "shape",    "short",   "signed",    "static",  "std",    "struct",
    "switch",   "task",   "tensor",   "test",    "this",      "throw",   "true",   "try",
    "typedef",  "union",  "unsigned", "using",   "virtual",   "void",    "while",  "xor",
    "heedgrad", "layer",  "op"};

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

int run(const NewOptions& o) {
  check_kind(o.kind);
  check_name(o);
  const fs::path folder = o.dir.value_or(o.name);
  std::vector<std::pair<fs::path, std::string>> files;
  for (const TemplateFile& file : new_templates()) {
    const std::string path = file.path;
    if (path.starts_with(o.kind + "/")) {
      files.emplace_back(folder / filled_in(path.substr(o.kind.size() + 1), o),
                         filled_in(file.text, o));
    }
  }
  std::error_code error;
  for (const auto& [path, text] : files) {
    require<ConfigError>(!fs::exists(path, error), "heed new: ", path.string(),
                         " is there already; nothing was written; give another NAME or --dir");
  }
  fs::create_directories(folder, error);
  require<IoError>(!error, folder.string(), ": cannot make this folder: ", error.message());
  for (const auto& [path, text] : files) {
    write_file_atomically(path, text);
    print_line(stdout, path.string());
  }
  const std::string at = shell_word(folder.string());
  const std::string build = shell_word((folder / "build").string());
  std::printf(
      "\nBuild and test it, then train with it:\n  cmake -S %s -B %s%s\n"
      "  cmake --build %s && ctest --test-dir %s\n  heed --trust-plugins train %s\n",
      at.c_str(), build.c_str(), prefix_option().c_str(), build.c_str(), build.c_str(),
      shell_word((folder / (o.name + ".yaml")).string()).c_str());
  return 0;
}

}  // namespace

Command new_command() {
  return command<NewOptions>("new", "write a start for a layer, operation or task of your own",
                             "heed new layer my_attention", declare, run);
}

}  // namespace heed::cli
