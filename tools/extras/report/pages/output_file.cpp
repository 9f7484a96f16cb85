#include "tools/extras/report/pages/output_file.h"

#include <cctype>
#include <cstring>
#include <span>

#include "autograd/base/error.h"
#include "layers/text/display.h"
#include "layers/text/formatted.h"
#include "train/files/files.h"
#include "train/files/human_readable.h"
#include "train/files/on_failure.h"
#include "train/files/temporary.h"

namespace heed::cli {

namespace fs = std::filesystem;

namespace {

constexpr size_t longest_path = 1000;  // in a message; longer ones are cut

std::string begin_of(const fs::path& file) {
  std::error_code unknown;
  const uintmax_t size = fs::is_regular_file(file, unknown) ? fs::file_size(file, unknown) : 0;
  std::string begin(std::min<uintmax_t>(size, 1024), ' ');
  if (size > 0) FileReader(file).read(0, std::as_writable_bytes(std::span(begin)));
  return begin;
}

bool holds_weights(const fs::path& file) {
  return begin_of(file).find(R"("__metadata__":{"heedgrad":"weights")") != std::string::npos;
}

// Whether a file looks like what commands write: pages, pictures, graphs, tokenizers, tensors. Ids
// and texts look like nobody's: they are not written over.
bool is_ours(const fs::path& file) {
  const std::string begin = begin_of(file);
  const auto has = [&](const char* mark) { return begin.find(mark) != begin.npos; };
  return begin.empty() || has("<title>heedgrad ") || has("class=\"heed\"") ||
         has("digraph step {") || has("{\n\"version\": \"1.0\",\n") ||
         has("\"__metadata__\":{\"heedgrad\":");
}

}  // namespace

std::vector<InputFile> files_named_in(const ConfigNode& config, const fs::path& folder) {
  std::vector<InputFile> files;
  const ConfigNode& data = config.get("data").get("path");
  if (data.is_scalar()) files.push_back({"the data", folder / data.text()});
  const ConfigNode& tokenizer = config.get("data").get("tokenizer").get("path");
  if (tokenizer.is_scalar()) files.push_back({"the tokenizer", folder / tokenizer.text()});
  for (const ConfigNode& plugin : config.get("plugins").children()) {
    files.push_back({"a plugin", folder / plugin.text()});
  }
  return files;
}

std::string written(const fs::path& file) {
  std::string url = "file://";
  for (const char c : fs::absolute(file).lexically_normal().string()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 0x80 && (std::isalnum(byte) != 0 || std::strchr("/-._~", c));
    url += plain ? std::string(1, c) : formatted("%%%02X", unsigned{byte});
  }
  std::error_code unknown;
  const uintmax_t size = fs::file_size(file, unknown);
  return text("wrote ", printable(file.string(), longest_path),
              unknown ? "" : " (" + bytes_text(static_cast<int64_t>(size)) + ")",
              file.extension() == ".dot" ? "; graphviz draws it: dot -O -Tpng " + shell_word(file)
                                         : "; open it in a browser: " + url);
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
  require<ConfigError>(!holds_weights(out), option, " ", printable(out.string(), longest_path),
                       ": is there, with weights that heed forward saved; give another file");
  require<ConfigError>(is_ours(out), option, " ", printable(out.string(), longest_path),
                       ": is there, and nothing in it says that heed made it; give another file");
}

fs::path own_page(const fs::path& run, const std::string& name) {
  return is_temporary(run) ? fs::path(run.filename().string() + "-" + name) : run / name;
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
  const OnFailure remove([&] {
    for (const fs::path& each : above) {
      fs::remove(each, error);  // stays if something else has come into it
    }
  });
  if (!above.empty() && !fs::create_directories(above.front(), error) && error) {
    fail_errno(above.front(), "cannot make the folder", error.value());
  }
  write_folder_atomically(folder, fill, Existing::refuse);
}

}  // namespace heed::cli
