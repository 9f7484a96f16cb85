// heed pack: a trained model as one file, to hand to somebody: a tar archive (POSIX, ustar) of a
// run folder with one checkpoint. Other commands unpack it for as long as they run.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <numeric>

#include "layers/config/text.h"
#include "layers/text/display.h"
#include "layers/text/formatted.h"
#include "tools/commands/run.h"
#include "tools/commands/run_files.h"
#include "tools/terminal/table.h"
#include "train/files/files.h"
#include "train/files/human_readable.h"
#include "train/files/temporary.h"

namespace heed::cli {

namespace {

namespace fs = std::filesystem;

// ---- The archive: of each file a header and its contents, filled up to whole blocks with zeros

constexpr size_t block = 512;                   // bytes, also of a header
constexpr const char* no_time = "00000000000";  // other archives have that of each file
constexpr size_t longest_name = 100, size_at = 124, time_at = 136, sum_at = 148, magic_at = 257;

std::string filling(size_t bytes) { return std::string((block - bytes % block) % block, '\0'); }

// The fields end with a byte 0; until it is known, the sum of all bytes counts as blanks.
std::string header_for(const std::string& name, size_t size) {
  const std::string end(1, '\0');
  std::string header(block, '\0');
  header.replace(0, name.size(), name);
  header.replace(longest_name, 57,
                 "0000644" + end + "0000000" + end + "0000000" + end +  // mode, owner, group
                     formatted("%011zo", size) + end + no_time + end + "        0");
  header.replace(magic_at, 8, "ustar" + end + "00");
  const size_t sum =
      std::accumulate(header.begin(), header.end(), size_t{0},
                      [](size_t all, char c) { return all + static_cast<unsigned char>(c); });
  return header.replace(sum_at, 7, formatted("%06zo", sum) + end);
}

void write_archive(const fs::path& folder, const fs::path& file) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  write_file_atomically(file, [&](FileWriter& out) {
    for (const fs::path& each : files) {
      const std::string contents = FileReader(each).whole();
      const fs::path name = each.lexically_relative(folder.parent_path());
      out.write(as_bytes(header_for(name.string(), contents.size())));
      out.write(as_bytes(contents));
      out.write(as_bytes(filling(contents.size())));
    }
    out.write(as_bytes(std::string(2 * block, '\0')));
  });
}

bool is_archive(const fs::path& file, bool packed = false) {
  std::string header(block, '\0');
  std::error_code unknown;
  if (!fs::is_regular_file(file, unknown) || fs::file_size(file, unknown) < block) return false;
  FileReader(file).read(0, std::as_writable_bytes(std::span(header)));
  return header.substr(magic_at, 5) == "ustar" &&
         (!packed || header.substr(time_at, 11) == no_time);
}

// Unpacks an archive, which may come from anybody, into an empty folder, and returns the folder of
// the run in it. What write_archive() would not write is an IoError: names that lead elsewhere,
// links, other kinds of files.
fs::path read_archive(const fs::path& file, const fs::path& into) {
  const std::string all = FileReader(file).whole();
  fs::path run;
  for (size_t at = 0, size = 0; at + block <= all.size() && all[at] != '\0';
       at += block + size + filling(size).size()) {
    const fs::path name = all.substr(at, longest_name).c_str();
    std::from_chars(&all[at + size_at], &all[at + size_at + 11], size, 8);
    const bool is_plain = std::all_of(name.begin(), name.end(), [](const fs::path& part) {
      return is_plain_name(part.string());
    });
    require<IoError>(all.compare(at, block, header_for(name.string(), size)) == 0 && is_plain &&
                         size <= all.size() - at - block && !is_there(into / name),
                     file.string(), ": damaged at byte ", at, ", or not made by heed pack");
    run = into / *name.begin();
    std::error_code error;
    fs::create_directories((into / name).parent_path(), error);
    write_file_atomically(into / name, std::string_view(all).substr(at + block, size));
  }
  require<IoError>(is_there(run / stored_config), file.string(),
                   ": expected a run in it, got none");
  return run;
}

// A folder that goes when the process ends; if that is killed, when the next one is made.
fs::path passing_folder() {
  struct Passing {
    fs::path path;
    FileHandle lock;
    ~Passing() {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  };
  static std::vector<std::unique_ptr<Passing>> all;
  std::error_code missing;
  const fs::path folder = fs::temp_directory_path(missing);
  const char* const given = std::getenv("TMPDIR");
  require<IoError>(!missing, "TMPDIR: expected a folder, got ", shell_word(given ? given : "/tmp"));
  const fs::path path = make_temporary(folder / "run", [](const fs::path& candidate) {
    return ::mkdir(candidate.c_str(), 0700) == 0 ? 0 : errno;
  });
  FileHandle lock(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  mark_as_written(lock.get());
  all.push_back(std::unique_ptr<Passing>(new Passing{path, std::move(lock)}));
  return path;
}

// ---- The command

struct PackOptions {
  std::string run;
  std::optional<std::string> out;
};

void declare(Arguments& arguments, PackOptions& o) {
  arguments.run(o.run)
      .option("--out", o.out, "the file (default: NAME.tar here, after the run's folder)")
      .path();
}

// Of a path, or of each in a list: where the data lay is nobody's business.
void leave_names_alone(ConfigNode* path) {
  for (int64_t i = 0; path != nullptr && i < path->size(); ++i) leave_names_alone(&path->at(i));
  if (path != nullptr && path->is_scalar()) {
    path->assign(fs::path(path->text()).filename().string());
  }
}

int run(const PackOptions& o) {
  const TrainedRun trained = load_to_ask(o.run, {});  // train.lora is merged into the weights
  std::vector<std::string> already_printed;
  const RunArgument from = resolve_run(o.run, already_printed);
  constexpr size_t longest = 40;  // so that all names fit into headers
  const std::string own = fs::weakly_canonical(from.run).filename().string();
  const std::string name = is_plain_name(own) && own.size() <= longest ? own : "run";
  const fs::path out = o.out.value_or(name + ".tar");
  const std::vector<std::string> packed{".gz", ".tgz", ".zip", ".xz", ".bz2", ".zst", ".7z"};
  require<ConfigError>(
      std::count(packed.begin(), packed.end(), in_lower_case(out.extension().string())) == 0,
      "heed pack: --out ", printable(out.string()),
      ": expected a name such as run.tar: nothing is ", "compressed");
  require_outside_runs("heed pack: --out", out);
  require<ConfigError>(!is_there(out) || is_archive(out, /*packed=*/true), "heed pack: --out ",
                       printable(out.string()), ": is there, and was not made by heed pack; give ",
                       "another file");

  ConfigNode config = trained.loaded.resolved;  // of a run that has all its weights
  for (const char* key : {"weights", "weights_fingerprint", "weights_ignore", "lora"}) {
    config.find("train")->erase(key);
  }
  config.find("checkpoint")->erase("full");
  leave_names_alone(config.find("data")->find("path"));
  std::map<std::string, std::string> texts = trained.loaded.texts();
  texts[stored_config] = to_yaml(config);
  const fs::path run = passing_folder() / name;
  fs::create_directory(run);
  write_file_atomically(run / stored_config, texts[stored_config]);
  save_checkpoint(run, *trained.model, nullptr, trained.state, texts, {},
                  read_manifest(from.checkpoint).made_with);
  for (const char* file : {run_metrics, run_samples, run_record, run_report}) {
    if (!from.is_copy() && is_there(from.run / file)) fs::copy_file(from.run / file, run / file);
  }
  write_archive(run, out);
  print_lines(stdout, {text("wrote ", out.string(), " (",
                            bytes_text(static_cast<int64_t>(fs::file_size(out))), "): step ",
                            trained.state.step, ", without the optimizer's state"),
                       "  heed generate " + shell_word(out.string())});
  return 0;
}

}  // namespace

Command pack_command() {
  Command pack = command<PackOptions>("pack", "a trained model as one file, to hand to others",
                                      "heed pack runs/quickstart --out class.tar", declare, run,
                                      Group::exchange);
  pack.unpack = [](const std::string& path) {  // any other file may be weights
    return is_archive(path) ? read_archive(path, passing_folder()).string() : path;
  };
  return pack;
}

}  // namespace heed::cli
