#include "tests/support/run_program.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "autograd/base/real.h"
#include "tests/support/near.h"

extern char** environ;

namespace heed::testing {

namespace {

namespace fs = std::filesystem;

struct Pipe {
  Pipe() { REQUIRE(pipe2(ends, O_CLOEXEC) == 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close(ends[0]);
    if (ends[1] >= 0) close(ends[1]);
  }
  void close_writer() { close(std::exchange(ends[1], -1)); }
  int ends[2];
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// Reads both pipes until the program has closed them.
void read_both(const Pipe& out, const Pipe& err, ProgramResult& result) {
  std::array<pollfd, 2> waiting{{{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}}};
  std::array<std::string*, 2> texts{&result.out, &result.err};
  std::array<char, 65536> buffer;
  while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
    if (poll(waiting.data(), waiting.size(), -1) < 0) {
      REQUIRE(errno == EINTR);
      continue;
    }
    for (size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
      const ssize_t got = read(waiting[i].fd, buffer.data(), buffer.size());
      if (got > 0) {
        texts[i]->append(buffer.data(), static_cast<size_t>(got));
      } else if (got == 0 || errno != EINTR) {
        waiting[i].fd = -1;
      }
    }
  }
}

}  // namespace

ProgramResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                          const std::vector<std::string>& environment) {
  const fs::path path = program.find('/') == std::string::npos ? fs::path(HEED_BUILD_DIR) / program
                                                               : fs::path(program);
  std::vector<std::string> words{path.string()}, settings;
  words.insert(words.end(), arguments.begin(), arguments.end());
  for (const std::string& setting : environment) settings.push_back(setting);
  for (char** one = environ; *one != nullptr; ++one) settings.emplace_back(*one);

  Pipe out, err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err.ends[1], 2);
  pid_t child = 0;
  const int failure = posix_spawn(&child, path.c_str(), &actions, nullptr, pointers(words).data(),
                                  pointers(settings).data());
  posix_spawn_file_actions_destroy(&actions);
  REQUIRE_MESSAGE(failure == 0, path.string(), ": ", std::string(std::strerror(failure)));

  out.close_writer();
  err.close_writer();
  ProgramResult result;
  read_both(out, err, result);
  int status = 0;
  rusage usage{};
  REQUIRE(wait4(child, &status, 0, &usage) == child);
  result.peak_bytes = int64_t{usage.ru_maxrss} * 1024;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

ProgramResult run_heed(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment) {
  return run_program(is_float64 ? "heed-f64" : "heed", arguments, environment);
}

bool has_command(const std::string& name) {
  static const std::string help = run_heed({"--help"}).out;
  return contains(help, "\n  " + name + " ");
}

ProgramResult succeeded(const std::vector<std::string>& arguments) {
  ProgramResult result = run_heed(arguments);
  CHECK_MESSAGE(result.exit_code == 0, spaced(arguments), "\n", result.err);
  return result;
}

std::string on_terminal(const std::vector<std::string>& arguments, unsigned short columns) {
  std::vector<std::string> words{HEED_BUILD_DIR + std::string(is_float64 ? "/heed-f64" : "/heed")};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::vector<char*> pointers_to_words = pointers(words);
  winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    execv(words[0].c_str(), pointers_to_words.data());
    _exit(127);
  }
  REQUIRE(child > 0);
  std::string shown;
  std::array<char, 4096> part;
  for (ssize_t got = 0; (got = read(terminal, part.data(), part.size())) > 0;) {
    shown.append(part.data(), static_cast<size_t>(got));
  }
  close(terminal);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK_MESSAGE(status == 0, spaced(arguments), "\n", shown);
  return shown;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

int lines_with(const std::string& text, const std::string& start) {
  int count = 0;
  for (const std::string& line : lines_of(text)) count += line.starts_with(start) ? 1 : 0;
  return count;
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  REQUIRE_MESSAGE(file.good(), path.string(), " cannot be written");
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), path.string(), " cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool has_float64() {
  const bool built = std::filesystem::exists(std::filesystem::path(HEED_BUILD_DIR) / "heed-f64");
  if (!built) MESSAGE("skipped: heed-f64 is not built");
  return built;
}

bool has_terminals() {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  const bool opened = terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0;
  if (terminal >= 0) {
    close(terminal);
  }
  const bool found = opened && access("/usr/bin/script", X_OK) == 0;
  if (!found) {
    MESSAGE("skipped: there are no pseudo-terminals here, or no program `script`");
  }
  return found;
}

}  // namespace heed::testing
