// A run folder in which somebody has removed, damaged, renamed and replaced things, by links, pipes
// and sockets, and a command on it. The first byte says which command; the second, which
// descriptors are closed, whether output fails, the folder is locked, or belongs to another user;
// the rest are changes (run_folder.h). Nothing outside of the folder changes, nothing changes that
// is only looked at, the last whole checkpoint stays, and a resumed run gives the same weights.
#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/file.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "tests/fuzz/run_folder.h"
#include "tools/commands/program.h"
#include "train/checkpoint/checkpoint.h"
#include "train/run/metrics.h"

using namespace heed;
using heed::fuzz::expect;
using heed::fuzz::Tree;

namespace {

namespace fs = std::filesystem;

constexpr const char* config =
    "seed: 5\n"
    "data: {type: text, path: text.txt, train_fraction: 0.8}\n"
    "model: {type: gpt, context_length: 4, d_model: 4, num_heads: 2, num_layers: 1}\n"
    "train: {steps: 4, batch_size: 2, log_every: 1}\n"
    "eval: {every: 2, batches: 1}\n"
    "checkpoint: {every: 2, best: true}\n"
    "sample: {every: 2, tokens: 2, prompt: E}\n";
const std::string run = "runs/c", outside = "outside", more = "train.steps=5",
                  next_step = run + "/checkpoints/step-000005/";

enum class Effect { none, adds, changes };  // on what is there; adds: only a new run

struct Command {
  std::vector<std::string> words;
  Effect effect;
  int code = 0;           // with nothing changed
  bool has_next = false;  // trains to step 5
  bool locks = false;
};

const std::vector<Command> commands{
    {{"train", "--resume", run, "--set", more}, Effect::changes, 0, true, true},
    {{"train", "--resume", run + "/checkpoints/step-000002", "--set", more},
     Effect::changes,
     0,
     true,
     true},
    {{"train", "--resume", run + "/checkpoints/best", "--set", more},
     Effect::changes,
     0,
     true,
     true},
    {{"train", "--resume", run}, Effect::changes, 0, false, true},
    {{"train", "--resume", run, "--dry-run"}, Effect::none},
    {{"train", "c.yaml"}, Effect::adds},
    {{"train", "c.yaml", "--out", run}, Effect::changes, 2},
    {{"eval", run}, Effect::none},
    {{"eval", run + "/checkpoints/best", "--json"}, Effect::none},
    {{"generate", run, "--prompt", "E", "--tokens", "2"}, Effect::none},
    {{"generate", run + "/checkpoints/step-000002", "--tokens", "2"}, Effect::none},
    {{"inspect", run, "--attention"}, Effect::none},
    {{"probe", run, "heads", "--repeat", "2"}, Effect::none},
    {{"probe", run, "lens", "--prompt", "E"}, Effect::none},
    {{"probe", run, "write", "--prompt", "E", "--answer", "E"}, Effect::none},
    {{"report", run}, Effect::changes},
    {{"report", run + "/checkpoints/step-000004"}, Effect::changes},
    {{"report", run, outside + "/run", "--out", "page.html"}, Effect::none},
    {{"validate", run + "/config.yaml"}, Effect::none},
};

// Every failure is an error of ours, which names the file and the reason.
int run_command(std::vector<std::string> words) {
  words.insert(words.begin(), "heed");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  cli::Request request = cli::parse(static_cast<int>(arguments.size()), arguments.data());
  std::string foreign;
  request.run = [&foreign, command = request.run] {
    try {
      return command();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      foreign = error.what();
      throw;
    }
  };
  const int code = cli::run(request);
  expect(foreign.empty(), "no error but ours, got " + foreign);
  return code;
}

// Standard input and output during a command, and as they were afterwards.
//   how & 7: which of the three are closed; how & 24: 8, a pipe that nobody reads; 16, a full disk
class Streams {
 public:
  explicit Streams(uint8_t how) {
    for (int i = 0; i < 3; ++i) {
      before_[i] = ::fcntl(i, F_DUPFD_CLOEXEC, 10);
      if (how & (1 << i)) ::close(i);
    }
    if (const int output = failing(how & 24); output >= 0) {
      for (const int i : {STDOUT_FILENO, STDERR_FILENO}) {
        if (!(how & (1 << i))) ::dup2(output, i);
      }
      ::close(output);
    }
    cli::occupy_standard_streams();
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() {
    __fpurge(stdout);  // what could not be written
    std::clearerr(stdout), std::clearerr(stderr), std::cout.clear();
    for (int i = 0; i < 3; ++i) {
      if (before_[i] < 0) {
        ::close(i);
      } else {
        ::dup2(before_[i], i), ::close(before_[i]);
      }
    }
  }

 private:
  // Not 0 to 2, of which some are to stay closed.
  static int failing(int how) {
    int pipe[2] = {-1, -1};
    if (how == 8 && ::pipe(pipe) == 0) ::close(pipe[0]);
    const int made = how == 16 ? ::open("/dev/full", O_WRONLY) : pipe[1];
    const int high = ::fcntl(made, F_DUPFD_CLOEXEC, 10);
    ::close(made);
    return high;
  }

  std::array<int, 3> before_{};
};

// The lock of a run, held as by another process.
class Locked {
 public:
  explicit Locked(bool wanted) {
    const fs::path lock = fs::path(run) / ".lock";
    std::error_code hidden;
    if (wanted && fs::is_regular_file(fs::symlink_status(lock, hidden))) {
      file_ = FileHandle(::open(lock.c_str(), O_RDWR | O_CLOEXEC));
      held_ = ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
    }
  }
  bool held() const { return held_; }

 private:
  FileHandle file_;
  bool held_ = false;
};

bool has_whole_checkpoint() {
  try {
    std::vector<std::string> warnings;
    return !newest_good_checkpoint(run, warnings).empty();
  } catch (const IoError&) {
    return false;
  }
}

// The same bytes each time, for inputs that change one of them: no seconds, no name of the folder,
// and no page of half a megabyte.
void localise(const fs::path& file) {
  std::string yaml = fuzz::bytes_of(file);
  const std::string name = (fs::current_path() / "text.txt").string();
  yaml.replace(yaml.find(name), name.size(), "../../text.txt");
  fuzz::write(file, yaml);
}

void make_reproducible() {
  for (const char* step : {"/checkpoints/step-000002", "/checkpoints/step-000004"}) {
    const fs::path folder = run + step;
    Manifest manifest = read_manifest(folder);
    manifest.made_with.clear();  // names the machine's kernels
    manifest.seconds = 1;
    localise(folder / "config.yaml");
    manifest.files["config.yaml"] = fingerprint_file(folder / "config.yaml");
    write_manifest(folder, manifest);
  }
  localise(run + "/config.yaml");
  std::string metrics = "step,loss,val_loss,lr,grad_norm,tokens,seconds,bits_per_byte\n";
  for (MetricsRow row : read_metrics(run + "/metrics.csv")) {
    row.seconds = 1;
    metrics += metrics_line(row) + "\n";
  }
  fuzz::write(run + "/metrics.csv", metrics);
  if (is_there(run + "/report.json")) {  // of the extra report
    nlohmann::ordered_json record =
        nlohmann::ordered_json::parse(read_file(run + "/report.json", 1'000'000));
    for (auto& each : record.at("evaluations")) each["seconds"] = 1;
    record["facts"].clear();
    fuzz::write(run + "/report.json", record.dump());
    fuzz::write(run + "/report.html", "<!DOCTYPE html>\n");
  }
  fuzz::write(run + "/log.txt", "done\n");
  fuzz::write(run + "/.lock", "process 1 on host");
}

// Made once: a folder that everything happens in, with a trained run.
class Place {
 public:
  Place() {
    std::signal(SIGPIPE, SIG_IGN);  // a command would just end
    expect(::chdir(folder_.path().c_str()) == 0, "to get into the folder");
    expect(::chmod(".", 0777) == 0, "everybody to write there");
    const fuzz::OtherUser other(true);
    fuzz::write("c.yaml", config);
    std::string text;
    for (int i = 0; i < 8; ++i) text += "Every effort moves you.\n";
    fuzz::write("text.txt", text);
    expect(run_command({"train", "c.yaml"}) == 0, "a run");
    make_reproducible();
    fs::create_directory(outside);
    fs::copy(run, outside + "/run", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    fuzz::write(outside + "/mine", "mine");
    outside_before = fuzz::tree_at(outside);
    inside_before = inside();
    changes.emplace(run, outside,
                    std::vector<std::string>{"runs", "runs/c-2", "text.txt", "c.yaml"});
    expect(run_command(commands[0].words) == 0, "a step more");
    for (const char* name : {"model.safetensors", "optimizer.safetensors"}) {
      trained[next_step + name] = fuzz::bytes_of(next_step + name);
    }
    clear();
  }

  static Tree inside() {
    Tree tree = fuzz::tree_at("runs");
    tree.merge(fuzz::tree_at("text.txt")), tree.merge(fuzz::tree_at("c.yaml"));
    return tree;
  }
  static void clear() {
    for (const char* name : {"runs", "text.txt", "c.yaml", "page.html"}) fuzz::clear_away(name);
  }

  Tree outside_before, inside_before;
  std::optional<fuzz::Changes> changes;
  std::map<std::string, std::string> trained;  // files of step 5, from a run that nobody disturbed

 private:
  const testing::TempDir folder_;
};

// ---- What must hold

// Entries that changed, or are there in one of the two only.
void expect_same(const Tree& before, const Tree& after, bool may_add) {
  for (const auto& [path, entry] : before) {
    const auto found = after.find(path);
    expect(found != after.end(), path + " to stay");
    expect(found->second == entry, path + " to stay as it was");
  }
  for (const auto& [path, entry] : after) {
    expect(may_add || before.contains(path), "nothing new, got " + path);
  }
}

// A checkpoint that was a hard link may be gone, and with it one of the names of its files.
void expect_same_outside(const Tree& before, const Tree& linked, Tree after) {
  for (auto& [path, entry] : after) {
    const auto at = linked.find(path);
    const uintmax_t most = at == linked.end() ? 1 : at->second.names;
    expect(entry.names >= 1 && entry.names <= most, "no new name of " + path);
    entry.names = 1;
  }
  expect_same(before, after, false);
}

// A folder that its owner may not list or change cannot be removed, only moved aside. Nor can the
// folder that it is in.
bool can_be_removed(const Tree& tree, const std::string& path) {
  const std::string top = path.substr(0, path.find('/', path.find("/.heed-tmp-") + 1));
  return std::none_of(tree.begin(), tree.end(), [&](const auto& each) {
    const auto& [name, entry] = each;
    return (name == top || name.starts_with(top + "/")) && entry.type == fs::file_type::directory &&
           (entry.mode & fs::perms::owner_all) != fs::perms::owner_all;
  });
}

void expect_tidy(const Tree& before, const Tree& after) {
  const std::string ours = ".heed-tmp-" + std::to_string(::getpid()) + "-";
  for (const auto& [path, entry] : after) {
    expect(path.find(ours) == std::string::npos || before.contains(path) ||
               !can_be_removed(after, path),
           "no temporary left, got " + path);
  }
  for (const fs::directory_entry& each : fs::directory_iterator(".")) {
    static const std::set<std::string> known{"runs", "text.txt", "c.yaml", "outside", "page.html"};
    expect(known.contains(each.path().filename().string()), "no " + each.path().string());
  }
}

// A run that was resumed has the weights of one that nobody disturbed, whatever was in its way.
void expect_trained(const Place& place, const Tree& before, const Tree& after) {
  const std::string config_file = run + "/config.yaml";
  if (place.changes->signed_again() ||
      before.at(config_file).bytes != place.inside_before.at(config_file).bytes) {
    return;  // they may differ: the checkpoint or the config is another one
  }
  for (const auto& [path, bytes] : place.trained) {
    const auto found = after.find(path);
    expect(found != after.end() && found->second.bytes == bytes, path + " as without changes");
  }
}

// Whether this build has the command: those of extras may be left out.
bool is_built(const Command& command) {
  static const std::vector<cli::Command> all = cli::all_commands();
  return std::any_of(all.begin(), all.end(),
                     [&](const cli::Command& one) { return one.name == command.words[0]; });
}

int run_disturbed(const Command& command, uint8_t how) {
  const fuzz::OtherUser other(how & 64);
  const Streams streams(how);
  return run_command(command.words);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Place place;
  fuzz::Input input(data, size);
  const Command& command = commands[input.byte() % commands.size()];
  if (!is_built(command)) return 0;
  const uint8_t how = input.byte();
  const bool untouched = how == 0 && input.size() == 0;
  {
    const fuzz::OtherUser other(how & 64);
    fuzz::put(place.inside_before);
    place.changes->apply(input);
  }
  const Tree before = Place::inside(), linked = fuzz::tree_at(outside);
  const bool had_checkpoint = command.effect == Effect::changes && has_whole_checkpoint();
  const Locked lock(how & 32);
  const int code = run_disturbed(command, how);
  const Tree after = Place::inside();
  expect(code >= 0 && code <= 3, "0, 1 for a file, 2 for the config, 3 for a loss");
  expect(!untouched || code == command.code, "another exit code with nothing changed");
  expect_same_outside(place.outside_before, linked, fuzz::tree_at(outside));
  expect_tidy(before, after);
  expect(!had_checkpoint || has_whole_checkpoint(), "a whole checkpoint to stay");
  const bool refused = lock.held() && command.locks;
  expect(!refused || code != 0, "a run in use to be refused");
  if (refused || command.effect != Effect::changes) {
    expect_same(before, after, command.effect == Effect::adds);
  }
  if (command.has_next && code == 0) expect_trained(place, before, after);
  Place::clear();
  return 0;
}
