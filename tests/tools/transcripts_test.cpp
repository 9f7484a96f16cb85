// Sessions as a user types them: tests/transcripts/*.txt. tests/README.md says how they are
// written. The variable HEED_TRANSCRIPT chooses one of them, as "train.txt".
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <sstream>
#include <string_view>

#include "autograd/base/error.h"
#include "autograd/base/real.h"
#include "tests/support/run_program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view any = "...";

// A command and what it says. Its exit code is the last line, "[2]", unless it is 0.
struct Typed {
  int line = 0;  // in the file, counted from 1
  std::string command;
  std::vector<std::string> said;
};

struct Transcript {
  std::string name;
  std::vector<std::string> needs;  // extras, or heed-f64
  std::vector<Typed> commands;
};

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines = lines_of(text);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

Transcript read_transcript(const fs::path& file) {
  const std::string needs = "# needs:";
  Transcript transcript{file.filename().string(), {}, {}};
  int number = 0;
  for (const std::string& line : lines_in(read_text(file))) {
    ++number;
    std::vector<Typed>& typed = transcript.commands;
    if (line.starts_with(needs)) {
      std::istringstream words(line.substr(needs.size()));
      for (std::string extra; words >> extra;) transcript.needs.push_back(extra);
    } else if (line.starts_with("#")) {
      continue;
    } else if (line.starts_with("$ ")) {
      typed.push_back({number, line.substr(2), {}});
    } else if (!typed.empty() && typed.back().said.empty() && line.starts_with(">")) {
      typed.back().command += "\n" + line.substr(std::min<size_t>(2, line.size()));
    } else if (!typed.empty()) {
      typed.back().said.push_back(line);
    } else {
      CHECK_MESSAGE(line.empty(), file.string(), ":", number, ": before the first command");
    }
  }
  for (Typed& each : transcript.commands) {
    while (!each.said.empty() && each.said.back().empty()) each.said.pop_back();
  }
  return transcript;
}

// Whether a line is as written, with any characters for each "...".
bool fits(std::string_view written, std::string_view line) {
  size_t dots = written.find(any);
  if (dots == std::string_view::npos) return written == line;
  if (!line.starts_with(written.substr(0, dots))) return false;
  line.remove_prefix(dots);
  for (;;) {
    written.remove_prefix(dots + any.size());
    dots = written.find(any);
    if (dots == std::string_view::npos) return line.ends_with(written);
    const size_t at = line.find(written.substr(0, dots));
    if (at == std::string_view::npos) return false;
    line.remove_prefix(at + dots);
  }
}

// How many of the lines written fit, from the first on; all of them if nothing is left over. A
// line "..." is any number of lines.
size_t fitting(std::span<const std::string> written, std::span<const std::string> got) {
  if (written.empty()) return 0;
  if (written.front() != any) {
    const bool first = !got.empty() && fits(written.front(), got.front());
    if (first && written.size() == 1) return got.size() == 1 ? 1 : 0;
    return first ? 1 + fitting(written.subspan(1), got.subspan(1)) : 0;
  }
  if (written.size() == 1) return 1;
  size_t most = 1;
  for (;; got = got.subspan(1)) {
    most = std::max(most, 1 + fitting(written.subspan(1), got));
    if (most == written.size() || got.empty()) return most;
  }
}

// Runs all commands in one bash, in a folder of their own, both streams as one. Returns what each
// said, and its exit code as the last line unless it is 0. The checkout and the build have a blank
// in their paths, as a user's may.
std::vector<std::vector<std::string>> said_by(const Transcript& transcript) {
  const TempDir folder;
  const std::string mark = "\x1E heed transcript ";
  fs::create_directories(folder / "bin");
  fs::create_directories(folder / "here");
  fs::create_symlink(fs::path(HEED_BUILD_DIR) / (is_float64 ? "heed-f64" : "heed"),
                     folder / "bin/heed");
  fs::create_directory_symlink(layout::root(), folder / "a checkout");
  fs::create_directory_symlink(HEED_BUILD_DIR, folder / "a build");
  std::string script =
      text("cd '", folder.path().string(), "'\n",
           "export PATH=$PWD/bin:$PATH LC_ALL=C HEED_SOURCE_DIR=\"$PWD/a checkout\" "
           "HEED_BUILD_DIR=\"$PWD/a build\"\n",
           "unset COLUMNS LINES\n. \"$HEED_SOURCE_DIR/tests/transcripts/fixtures.sh\"\n",
           "cd here && exec 2>&1\n");
  for (const Typed& each : transcript.commands) {
    script += each.command + "\nprintf '\\n%s%d\\n' '" + mark + "' $?\n";
  }
  script += "jobs -p | xargs -r kill\n";  // a job left over would be waited for
  write_text(folder / "script", script);
  const std::string out = run_program("/bin/bash", {(folder / "script").string()}).out;
  std::vector<std::vector<std::string>> said;
  for (size_t at = 0, end = 0; (end = out.find("\n" + mark, at)) != std::string::npos;) {
    said.push_back(lines_in(out.substr(at, end - at)));
    at = out.find('\n', end + 1) + 1;
    const std::string code = out.substr(end + 1 + mark.size(), at - end - 2 - mark.size());
    if (code != "0") said.back().push_back("[" + code + "]");
  }
  if (said.size() < transcript.commands.size()) said.push_back({"(here the shell has ended)"});
  return said;
}

std::string joined_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text;
}

// Returns the number of commands that were compared.
int run_transcript(const Transcript& transcript) {
  const std::vector<std::vector<std::string>> said = said_by(transcript);
  const std::string file = "tests/transcripts/" + transcript.name;
  int compared = 0;
  for (const Typed& each : transcript.commands) {
    const size_t i = static_cast<size_t>(compared);
    const std::vector<std::string> got = i < said.size() ? said[i] : std::vector<std::string>();
    const bool as_written =
        each.said == got || (!each.said.empty() && fitting(each.said, got) == each.said.size());
    const size_t wrong = as_written ? 0 : fitting(each.said, got);
    const std::string near = wrong < each.said.size() ? each.said[wrong] : "nothing more";
    CHECK_MESSAGE(as_written, text(file, ":", each.line, ": $ ", each.command, "\nexpected\n",
                                   joined_lines(each.said), "got\n", joined_lines(got),
                                   "of which this does not fit: ", near));
    if (i >= said.size()) return compared;  // the shell has ended before
    ++compared;
  }
  return compared;
}

// Whether this build has it. An extra that tools/README.md does not list is a misprint.
bool is_built(const std::string& needed) {
  if (needed == "heed-f64") return has_float64();
  static const std::string readme = read_text(layout::root() / "tools/README.md");
  CHECK_MESSAGE(contains(readme, "| [" + needed + "]("), needed);
  return layout::has_extra(needed);
}

}  // namespace

TEST_CASE("transcripts: every command says what is written below it") {
  const char* const chosen = std::getenv("HEED_TRANSCRIPT");
  int files = 0, commands = 0;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(layout::root() / "tests/transcripts")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".txt" || (chosen != nullptr && name != chosen)) continue;
    CAPTURE(name);
    ++files;
    const Transcript transcript = read_transcript(entry.path());
    CHECK(!transcript.commands.empty());
    if (std::ranges::all_of(transcript.needs, is_built)) {
      commands += run_transcript(transcript);
    } else {
      MESSAGE("skipped: ", name, " needs what this build leaves out");
    }
  }
  if (chosen != nullptr) {
    CHECK_MESSAGE(files == 1, chosen);
    return;
  }
  CHECK(files >= 42);
  CHECK(commands >= 240);  // of the core alone
}
