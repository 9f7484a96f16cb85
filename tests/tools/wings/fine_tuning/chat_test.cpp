// heed chat, from a pipe and on a terminal, and the commands of the README on instructions.
#include <doctest/doctest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "tests/support/run_program.h"
#include "tests/support/training_run.h"
#include "tests/train/wings/translation/configs.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::string program = std::string(HEED_BUILD_DIR) + (is_float64 ? "/heed-f64" : "/heed");

struct ChatRuns {
  ChatRuns() {
    write_text(folder / "a.json", R"([
{"instruction": "reverse", "input": "abc", "output": "cba"},
{"instruction": "first", "input": "xy", "output": "x"},
{"instruction": "say hello", "output": "hello"},
{"instruction": "say bye", "output": "bye"}])");
    write_text(folder / "text.txt", sample_text());
  }
  // Trains and returns the run folder.
  std::string trained(const std::string& name, const std::string& config,
                      const std::vector<std::string>& more = {}) const {
    const std::string run = (folder / name).string();
    std::vector<std::string> arguments{"train", config_of(folder, name, config), "--out", run};
    arguments.insert(arguments.end(), more.begin(), more.end());
    succeeded(arguments);
    return run;
  }
  std::string instructions(const std::string& more = "", int steps = 60) const {
    return text(
        "data: {type: instructions, path: a.json, template: \"{instruction}: {input}\\n\", ",
        "template_without_input: \"{instruction}\\n\", tokenizer: char, validation: a.json", more,
        "}\nmodel: {type: gpt, d_model: 32, num_heads: 2, num_layers: 1}\n",
        "optimizer: {type: adamw, lr: 1e-2}\ntrain: {steps: ", steps, ", batch_size: 4}\n");
  }
  static std::string writer(int context_length = 8) {
    return text(
        "data: {type: text, path: text.txt}\nmodel: {type: gpt, context_length: ", context_length,
        ", d_model: 12, num_heads: 3, num_layers: 1}\n", "train: {steps: 2, batch_size: 4}\n");
  }
  // What heed chat answers to lines from a pipe.
  ProgramResult chat(const std::string& run, const std::string& lines,
                     const std::string& options = "") const {
    write_text(folder / "lines", lines);
    return run_program("/bin/sh", {"-c", "'" + program + "' chat " + run + " " + options + " < " +
                                             (folder / "lines").string()});
  }
  TempDir folder;
};

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

TEST_CASE("heed chat: from a pipe, an answer for each line, as heed generate gives it") {
  const ChatRuns files;
  const std::string run = files.trained("i", files.instructions());
  const ProgramResult asked =
      files.chat(run, "reverse: abc\n\n{\"instruction\": \"first\", \"input\": \"xy\"}\nsay bye\n");
  CHECK(asked.exit_code == 0);
  CHECK(asked.out == "cba\nx\nbye\n");
  CHECK(asked.err == "");
  CHECK(succeeded({"generate", run, "--prompt", "say hello", "--temperature", "0"}).out ==
        "hello\n");
  const ProgramResult eval = succeeded({"eval", run});
  CHECK(contains(eval.out, "100.00% of targets, 100.00% of sequences"));

  // A question that cannot be asked has an empty line, and the others their answers.
  const ProgramResult wrong = files.chat(run, "say bye\nQ\n/nwe\nsay hello\n/temperature -1\n");
  CHECK(wrong.exit_code == 1);
  CHECK(wrong.out == "bye\n\n\nhello\n\n");
  CHECK(contains(wrong.err, "line 2: the character Q"));
  CHECK(contains(wrong.err,
                 "line 3: expected /new, /temperature, /save or /help, got /nwe; did "
                 "you mean /new?"));
  CHECK(contains(wrong.err, "line 5: /temperature: expected a number of at least 0, got -1"));
  CHECK(contains(run_heed({"chat", run, "--tokens", "0"}).err,
                 "heed chat: expected --tokens of at least 1, got 0"));
}

TEST_CASE("heed chat: what was said stays until the context is full") {
  const ChatRuns files;
  const std::string run = files.trained("i", files.instructions(", max_length: 48", 2));
  // 10 tokens of a question, an answer of 1 and <end>: 12 for each.
  const std::string lines = "say hello\nsay hello\nsay hello\nsay hello\nsay hello\nsay hello\n";
  const ProgramResult kept = files.chat(run, lines, "--keep 9 --tokens 1");
  CHECK(kept.exit_code == 0);
  const std::string full =
      "(the context of 48 tokens is full: the oldest of what was said has left it)\n";
  CHECK(kept.err == full + full);  // before the fifth and the sixth
  CHECK(files.chat(run, lines, "--keep 2 --tokens 1").err == "");
  CHECK(files
            .chat(run,
                  "say hello\n/new\nsay hello\n/new\nsay hello\n/new\nsay hello\n/new\n"
                  "say hello\n",
                  "--keep 9 --tokens 1")
            .err == "");
  // It matters what was said: the model has learned only single questions.
  const std::string saved = (files.folder / "said").string();
  CHECK(files.chat(run, "say bye\n/save " + saved + "\n/save " + saved + "\n/save\n").exit_code ==
        1);
  CHECK(read_text(saved).starts_with("> say bye\n"));
}

TEST_CASE("heed chat: runs without a template go on from the question") {
  const ChatRuns files;
  const std::string run = files.trained("t", ChatRuns::writer());
  const ProgramResult once = files.chat(run, "Every\n", "--tokens 20");
  CHECK("Every" + once.out ==
        succeeded({"generate", run, "--prompt", "Every", "--tokens", "20"}).out);
  const ProgramResult twice = files.chat(run, "Every\nall\n", "--tokens 20 --keep 3");
  CHECK(twice.out.starts_with(once.out));
  CHECK(contains(twice.err, "(the context of 8 tokens is full"));
  const std::string copies = files.trained("c", copying);
  CHECK(files.chat(copies, "11 2 3\n").out ==
        succeeded({"generate", copies, "--prompt", "11 2 3"}).out);
  const ProgramResult none =
      files.chat(files.trained("n",
                               "data: {type: synthetic, vocab_size: 7}\n"
                               "model: {type: gpt, context_length: 8, d_model: 8, num_heads: 2, "
                               "num_layers: 1}\ntrain: {steps: 1, batch_size: 2}\n"),
                 "a\n");
  CHECK(none.exit_code != 0);
  CHECK(contains(none.err, "which has no text to continue"));
}

TEST_CASE("instructions: from the weights of a gpt, whose vocabulary stays") {
  const ChatRuns files;
  const std::string rows = R"([{"instruction": "Every", "output": "all"},
{"instruction": "you", "output": "need"}])";
  write_text(files.folder / "a.json", rows);
  const std::string gpt = files.trained("g", ChatRuns::writer(24));
  const std::string tuned =
      "data: {type: instructions, path: a.json, template: \"{instruction}\\n\", tokenizer: char, "
      "train_fraction: 1, max_length: 24, end_token: \".\"}\n"
      "model: {type: gpt, d_model: 12, num_heads: 3, num_layers: 1}\n"
      "train: {steps: 2, batch_size: 2}\n";
  const std::string run = files.trained("w", tuned, {"--weights", gpt});
  CHECK(read_text(std::filesystem::path(run) / "config.yaml").find("vocab_size") !=
        std::string::npos);
  succeeded({"generate", run, "--prompt", "Every", "--tokens", "3"});
  const ProgramResult other =
      run_heed({"train", (files.folder / "w.yaml").string(), "--weights", gpt, "--out",
                (files.folder / "o").string(), "--set", "data.template=alpaca"});
  CHECK(other.exit_code != 0);
  CHECK(contains(other.err, "data.template: the character"));
  CHECK(!std::filesystem::exists(files.folder / "o"));
}

TEST_CASE("heed chat: Ctrl-C stops an answer and drops a line, Ctrl-D ends") {
  if (!has_terminals()) return;
  const ChatRuns files;
  const std::string run = files.trained("t", ChatRuns::writer(64));
  OnTerminal chat({run, "--tokens", "100000000"});
  CHECK(chat.shows("> "));
  chat.type("Every\r");
  CHECK(chat.shows("Every"));
  CHECK(chat.shows("e"));  // of the answer
  chat.type("\x03");
  CHECK(chat.shows("(stopped)"));
  CHECK(chat.shows("> "));
  chat.type("not asked");
  CHECK(chat.shows("not asked"));
  chat.type("\x03");
  CHECK(chat.shows("> "));
  chat.type("/help\r");
  CHECK(chat.shows("Ctrl-C stops an answer, Ctrl-D ends the chat."));
  CHECK(chat.shows("> "));
  chat.type("\x04");
  CHECK(chat.ended() == 0);
}
