// heed chat: questions to a trained model, and its answers.
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "layers/config/fields.h"
#include "layers/text/display.h"
#include "layers/text/utf8.h"
#include "tools/commands/run.h"
#include "tools/commands/run_files.h"
#include "tools/extras/fine_tuning/line_editor.h"
#include "tools/extras/fine_tuning/train/conversation.h"
#include "tools/terminal/table.h"
#include "train/files/files.h"
#include "train/files/on_failure.h"

namespace heed::cli {

namespace {

struct ChatOptions {
  std::string run;
  std::vector<std::string> sets;
  int64_t tokens = 200;
  std::optional<double> temperature;
  std::optional<int64_t> top_k, keep;
  std::optional<double> top_p;
  int64_t seed = 123;
};

void declare_chat(Arguments& arguments, ChatOptions& o) {
  arguments.run(o.run)
      .option("--tokens", o.tokens, "the most that an answer has (200)", at_least(1))
      .option("--temperature", o.temperature,
              "below 1 more cautious, above 1 bolder, 0 always the likeliest (0; of a text 0.8)",
              at_least(0))
      .option("--top-k", o.top_k, "choose among the k likeliest", at_least(1))
      .option("--top-p", o.top_p, "choose among the likeliest with sum p",
              in_range(0, 1, Bound::open))
      .option("--keep", o.keep,
              "how many questions and answers before the model sees (as many as its context has "
              "room for; from a pipe 0)",
              at_least(0))
      .option("--seed", o.seed, "of the choices (123)", at_least(0))
      .threads()
      .option("--set", o.sets, set_of_run);
}

constexpr const char* chat_help =
    "/new             forget what was said\n"
    "/temperature T   below 1 more cautious, above 1 bolder, 0 always the likeliest\n"
    "/save F          write what was said to a file\n"
    "/quit            end\n"
    "/help            this list\n"
    "Ctrl-C stops an answer, Ctrl-D ends the chat.";

class Chat {
 public:
  Chat(const TrainedRun& trained, const ChatOptions& o)
      : task_(*trained.loaded.task),
        asks_(isatty(STDIN_FILENO) != 0),
        shows_(isatty(STDOUT_FILENO) != 0),
        context_length_(trained.loaded.config.context_length()),
        conversation_(task_, *trained.model, context_length_, kept(o)),
        editor_(asks_ && shows_),
        options_{.tokens = o.tokens,
                 .sampling = {.temperature = o.temperature.value_or(usual_temperature()),
                              .top_k = o.top_k,
                              .top_p = o.top_p,
                              .seed = static_cast<uint64_t>(o.seed),
                              .ends = trained.loaded.config.sample.end},
                 .context_length = context_length_,
                 .each = [this](const std::string& part) { write(part); },
                 .stop = LineEditor::interrupted} {}

  // Returns the exit code: 1 if a question from a pipe was refused.
  int run() {
    require<ConfigError>(asks_ || options_.sampling.temperature > 0 ||
                             !(options_.sampling.top_k || options_.sampling.top_p),
                         "heed chat: --top-k and --top-p have no effect at temperature 0; give ",
                         "--temperature above 0, or leave them out");
    if (asks_) {
      print_line(stderr, "Ctrl-C stops an answer, Ctrl-D ends; /help lists the commands.");
    }
    bool refused = false;
    while (const auto line = ended_ ? std::nullopt : editor_.next(asks_ ? "> " : "")) {
      ++lines_;
      if (line->find_first_not_of(" \t\r") == std::string::npos) {
        continue;
      }
      try {
        if (line->starts_with('/')) {
          obey(*line);
        } else {
          reply(*line);
        }
      } catch (const Error& error) {
        refused = true;
        const bool failed = error.has_place();  // of a file: the question itself is right
        print_line(stderr, text(asks_ || failed ? "" : text("line ", lines_, ": "), error.what()));
        write(asks_ || failed ? "" : "\n");  // each question has its line
      }
    }
    if (asks_) {
      std::fputs("\n", stderr);
    }
    return refused && !asks_ ? 1 : 0;
  }

 private:
  double usual_temperature() const { return conversation_.is_about_instructions() ? 0 : 0.8; }
  size_t kept(const ChatOptions& o) const {
    const int64_t all = asks_ ? std::numeric_limits<int64_t>::max() : 0;
    return static_cast<size_t>(o.keep.value_or(all));
  }

  // A file or pipe gets an answer unchanged, a terminal without control characters.
  void write(const std::string& part) const {
    errno = 0;
    std::fputs((shows_ ? printable_lines(part, "\n\t") : part).c_str(), stdout);
    std::fflush(stdout);
    if (errno == EINTR) {  // Ctrl-C, while the terminal had no room: no error of the output
      std::clearerr(stdout);
    }
  }

  void reply(const std::string& question) {
    require<ConfigError>(
        first_wrong_byte(question) == question.size() && question.find('\0') == question.npos,
        "expected UTF-8 without NUL characters; is it UTF-16?");
    const bool was_full = std::exchange(full_, conversation_.ask(question, options_.tokens));
    if (full_ && !was_full) {
      print_line(stderr, text("(the context of ", context_length_,
                              " tokens is full: the oldest of what was said has left it)"));
    }
    LineEditor::begin();
    {
      const OnFailure end_line([&] { write("\n"); });
      conversation_.answer(options_);
    }
    write("\n");
    if (LineEditor::interrupted()) {
      print_line(stderr, "(stopped)");
    }
    options_.sampling.seed += asks_ ? 1 : 0;  // the same question may have another answer
  }

  void obey(const std::string& line) {
    const size_t blank = line.find(' ');
    const std::string name = line.substr(0, blank);
    const size_t begin = blank == std::string::npos ? blank : line.find_first_not_of(' ', blank);
    const std::string argument = begin == std::string::npos ? "" : line.substr(begin);
    if (name == "/new") {
      require<ConfigError>(argument.empty(), "/new: expected nothing behind it, got ",
                           printable(argument));
      conversation_.forget();
    } else if (name == "/temperature") {
      double number = -1;
      const char* const end = argument.data() + argument.size();
      const auto read = std::from_chars(argument.data(), end, number);
      require<ConfigError>(read.ptr == end && number >= 0 && std::isfinite(number),
                           "/temperature: expected a number of at least 0, got ",
                           argument.empty() ? "nothing" : printable(argument));
      options_.sampling.temperature = number;
    } else if (name == "/save") {
      save(argument);
    } else if (name == "/quit") {
      ended_ = true;
    } else if (name == "/help") {
      print_line(stderr, chat_help);
    } else {
      const std::string near = nearest(name, {"/new", "/temperature", "/save", "/quit", "/help"});
      fail<ConfigError>("expected /new, /temperature, /save, /quit or /help, got ", printable(name),
                        near.empty() ? "" : "; did you mean " + near + "?");
    }
  }

  void save(const std::string& file) const {
    require<ConfigError>(!file.empty(), "/save: expected the name of a file, got nothing");
    require<ConfigError>(!is_there(file), "/save: expected a new file, got ", printable(file),
                         ", which is there");
    require_outside_runs("/save", file);
    std::string all;
    for (const Conversation::Exchange& one : conversation_.said()) {
      all += text("> ", one.question, "\n", one.answer, "\n");
    }
    write_file_atomically(file, all, Links::follow);
    print_line(stderr, text(conversation_.said().size(), " questions and their answers are in ",
                            printable(file)));
  }

  const Task& task_;
  const bool asks_, shows_;  // a terminal
  const int64_t context_length_;
  Conversation conversation_;
  LineEditor editor_;
  AnswerOptions options_;
  int64_t lines_ = 0;
  bool full_ = false, ended_ = false;  // full_: the last question had no room for all before it
};

int run_chat(const ChatOptions& o) {
  const TrainedRun trained = load_to_ask(o.run, o.sets);
  require_tokenizer(trained, "heed chat: " + o.run);
  std::vector<std::string> already_printed;
  require<ConfigError>(
      !is_there(resolve_run(o.run, already_printed).checkpoint / "chat_template.jinja"),
      "heed chat: ", o.run, " was imported with a chat_template, by which heed does not ask; ",
      "heed generate takes a prompt that is written in its form");
  return Chat(trained, o).run();
}

}  // namespace

Command chat_command() {
  return command<ChatOptions>("chat", "questions to a trained model, and its answers",
                              "heed chat runs/instructions", declare_chat, run_chat, Group::train);
}

}  // namespace heed::cli
