#include "tools/extras/tour/commands/float64.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "autograd/base/error.h"
#include "tools/terminal/table.h"

namespace heed::cli {

std::optional<std::string> tour_in_float64(const std::vector<std::string>& flags) {
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "heed-f64";
  std::vector<std::string> words{program, "tour", "backward", "--json"};
  words.insert(words.end(), flags.begin(), flags.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  int ends[2];  // of a pipe from its output to us
  require<IoError>(pipe2(ends, O_CLOEXEC) == 0, "heed tour: no pipe: ", std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = 0;
  const bool started =
      posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string json;
  char part[4096];
  for (ssize_t got = 0; started && (got = read(ends[0], part, sizeof part)) > 0;) {
    json.append(part, static_cast<size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  if (started && waitpid(child, &status, 0) == child && status == 0) {
    return json;
  }
  print_line(stderr,
             text("heed tour: without the steps of `heed tour backward`: heed-f64 ",
                  started ? "failed" : "is not built yet; tools/build.sh heed-f64 does it"));
  return std::nullopt;
}

}  // namespace heed::cli
