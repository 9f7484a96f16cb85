// heed chat on a terminal. From a pipe: tests/transcripts/chat.txt.
#include <doctest/doctest.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>

#include "tests/support/run_program.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::string program = std::string(HEED_BUILD_DIR) + (is_float64 ? "/heed-f64" : "/heed");

// heed chat on a terminal.
class OnTerminal {
 public:
  explicit OnTerminal(const std::vector<std::string>& arguments) {
    std::vector<std::string> words{program, "chat"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    child_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (child_ == 0) {
      termios modes{};
      tcgetattr(STDIN_FILENO, &modes);
      modes.c_iflag |= IUTF8;  // as terminals are, for a build that has no editing
      tcsetattr(STDIN_FILENO, TCSANOW, &modes);
      execv(pointers[0], pointers.data());
      _exit(127);
    }
    REQUIRE(child_ > 0);
  }
  void type(const std::string& keys) {
    CHECK(write(terminal_, keys.data(), keys.size()) == std::ssize(keys));
  }
  // Waits until `part` comes after what was waited for before; false at the end of the program.
  bool shows(const std::string& part) {
    std::array<char, 4096> piece;
    while (shown_.find(part, seen_) == std::string::npos) {
      const ssize_t got = read(terminal_, piece.data(), piece.size());
      if (got <= 0) return false;
      shown_.append(piece.data(), static_cast<size_t>(got));
    }
    seen_ = shown_.find(part, seen_) + part.size();
    return true;
  }
  // The exit code, after all that was shown.
  int ended() {
    shows(std::string(1, '\0'));
    int status = 0;
    CHECK(waitpid(child_, &status, 0) == child_);
    close(terminal_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  const std::string& shown() const { return shown_; }

 private:
  int terminal_ = -1;
  pid_t child_ = -1;
  std::string shown_;
  size_t seen_ = 0;
};

}  // namespace

TEST_CASE("heed chat: Ctrl-C stops an answer and drops a line, Ctrl-D ends") {
  if (!has_terminals()) return;
  const TempDir folder;
  const std::string run = (folder / "run").string();
  succeeded({"train", write_config(folder), "--out", run, "--set", "model.context_length=64"});
  OnTerminal chat({run, "--tokens", "100000000"});
  CHECK(chat.shows("> "));
  chat.type("Every\r");
  CHECK(chat.shows("Every\r\n"));
  CHECK(chat.shows("e"));  // of the answer
  chat.type("\x03");
  CHECK(chat.shows("(stopped)"));
  CHECK(chat.shows("> "));
  chat.type("not asked");
  CHECK(chat.shows("not asked"));
  chat.type("\x03");
  CHECK(chat.shows("> "));
  chat.type(
      "/h\xC3\xA4\x7F"
      "elp\r");  // takes back a letter of two bytes
  CHECK(chat.shows("Ctrl-C stops an answer, Ctrl-D ends the chat."));
  CHECK(chat.shows("> "));
  chat.type("\x04");
  CHECK(chat.ended() == 0);
}
