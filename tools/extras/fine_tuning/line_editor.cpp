#include "tools/extras/fine_tuning/line_editor.h"

#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "layers/text/utf8.h"

namespace heed::cli {

namespace {

volatile std::sig_atomic_t interrupt_came = 0;
struct sigaction handler_before;

// libedit (BSD), or GNU readline: what is installed is loaded, and heed is built and runs without
// them. These are the names of readline's manual, which libedit has too.
struct Readline {
  char* (*readline)(const char* prompt) = nullptr;
  void (*add_history)(const char* line) = nullptr;
  int* rl_done = nullptr;
  int (**rl_event_hook)() = nullptr;
  int (**rl_getc_function)(FILE* in) = nullptr;
  int (**rl_pre_input_hook)() = nullptr;
  void (*rl_prep_terminal)(int meta) = nullptr;
  bool is_libedit = false;

  static const Readline* loaded() {
    static const Readline found = load();
    return found.readline != nullptr ? &found : nullptr;
  }

 private:
  static Readline load() {
    Readline found;
    void* library = nullptr;
    for (const std::string_view name :
         {"libedit.so.2", "libedit.so.0", "libreadline.so.8", "libreadline.so.7"}) {
      if (library != nullptr) break;
      library = dlopen(name.data(), RTLD_NOW | RTLD_LOCAL);
      found.is_libedit = name.starts_with("libedit");
    }
    const auto find = [&](auto& member, const char* symbol) {
      // What dlsym() returns is a pointer to data, also of a function.
      member =
          library == nullptr
              ? nullptr
              : reinterpret_cast<std::remove_reference_t<decltype(member)>>(dlsym(library, symbol));
      return member != nullptr;
    };
    const bool whole = find(found.readline, "readline") && find(found.rl_done, "rl_done") &&
                       find(found.add_history, "add_history") &&
                       find(found.rl_event_hook, "rl_event_hook") &&
                       find(found.rl_getc_function, "rl_getc_function") &&
                       find(found.rl_pre_input_hook, "rl_pre_input_hook") &&
                       find(found.rl_prep_terminal, "rl_prep_terminal");
    return whole ? found : Readline{};
  }
};

// Called ten times a second while readline waits for a key: ends the line after Ctrl-C.
int end_interrupted_line() {
  if (interrupt_came != 0) *Readline::loaded()->rl_done = 1;
  return 0;
}

// Waits until a terminal has something to read; false after Ctrl-C. It looks ten times a second,
// because a read would not end if the signal came just before it, or to another thread.
bool key_comes(int terminal) {
  pollfd key{terminal, POLLIN, 0};
  while (interrupt_came == 0 && poll(&key, 1, 100) <= 0) {
  }
  return interrupt_came == 0;
}

// The next letter, for libedit, which with an event hook would keep a core busy and drop letters
// that are not ASCII. After Ctrl-C: the end of the line.
int read_letter(FILE* in) {
  std::string bytes;
  do {
    if (!key_comes(fileno(in))) return '\n';
    char byte;
    const ssize_t got = ::read(fileno(in), &byte, 1);
    if (got == 1) {
      bytes += byte;
    } else if (got == 0 || errno != EINTR) {
      return EOF;
    }
  } while (bytes.empty() || utf8_at(bytes, 0).cut);
  const Utf8Character letter = utf8_at(bytes, 0);
  return static_cast<int>(letter.size > 0 ? letter.code : U'\uFFFD');
}

// For libedit, which would show the prompt first, and miss a Ctrl-D that then comes at once.
int take_keys() {
  Readline::loaded()->rl_prep_terminal(1);
  return 0;
}

bool edits_lines = false;

}  // namespace

LineEditor::LineEditor(bool edits) {
  edits_lines = edits && Readline::loaded() != nullptr;
  if (edits_lines && Readline::loaded()->is_libedit) {
    std::setlocale(LC_CTYPE, "C.UTF-8");  // how it writes letters
    *Readline::loaded()->rl_getc_function = read_letter;
    *Readline::loaded()->rl_pre_input_hook = take_keys;
  } else if (edits_lines) {
    *Readline::loaded()->rl_event_hook = end_interrupted_line;
  }
  struct sigaction action {};
  action.sa_handler = [](int) { interrupt_came = 1; };
  sigemptyset(&action.sa_mask);  // and no SA_RESTART: a read ends, so that the line can be dropped
  sigaction(SIGINT, &action, &handler_before);
}

LineEditor::~LineEditor() { sigaction(SIGINT, &handler_before, nullptr); }

std::optional<std::string> LineEditor::next(const char* prompt) {
  begin();
  if (edits_lines) {
    char* const line = Readline::loaded()->readline(prompt);
    if (line == nullptr) {
      return std::nullopt;
    }
    const std::string typed = interrupted() ? "" : line;
    std::free(line);  // NOLINT: readline has allocated it
    if (!typed.empty()) {
      Readline::loaded()->add_history(typed.c_str());
    }
    return typed;
  }
  std::fputs(prompt, stderr);
  std::string line;
  if ((isatty(STDIN_FILENO) == 0 || key_comes(STDIN_FILENO)) && std::getline(std::cin, line)) {
    return std::string(plain_line(line));
  }
  if (interrupted()) {
    std::cin.clear();
    std::clearerr(stdin);
    std::fputs("\n", stderr);
    return "";
  }
  return std::nullopt;
}

void LineEditor::begin() { interrupt_came = 0; }
bool LineEditor::interrupted() { return interrupt_came != 0; }

}  // namespace heed::cli
