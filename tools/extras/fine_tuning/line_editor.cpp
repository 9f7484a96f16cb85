#include "tools/extras/fine_tuning/line_editor.h"

#include <dlfcn.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "layers/text/utf8.h"

namespace heed::cli {

namespace {

volatile std::sig_atomic_t interrupt_came = 0;
struct sigaction handler_before;

// GNU readline, loaded where it is wanted: heed is built and runs without it. These are the names
// of its manual.
struct Readline {
  char* (*readline)(const char* prompt) = nullptr;
  void (*add_history)(const char* line) = nullptr;
  void (*rl_replace_line)(const char* text, int clear_undo) = nullptr;
  int* rl_done = nullptr;
  int (**rl_event_hook)() = nullptr;

  static const Readline* loaded() {
    static const Readline found = load();
    return found.readline != nullptr ? &found : nullptr;
  }

 private:
  static Readline load() {
    void* library = nullptr;
    for (const char* name : {"libreadline.so.8", "libreadline.so.7", "libreadline.so"}) {
      library = library != nullptr ? library : dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    Readline found;
    const auto find = [&](auto& member, const char* name) {
      // What dlsym() returns is a pointer to data, also of a function.
      member =
          library == nullptr
              ? nullptr
              : reinterpret_cast<std::remove_reference_t<decltype(member)>>(dlsym(library, name));
      return member != nullptr;
    };
    const bool whole = find(found.readline, "readline") && find(found.rl_done, "rl_done") &&
                       find(found.add_history, "add_history") &&
                       find(found.rl_replace_line, "rl_replace_line") &&
                       find(found.rl_event_hook, "rl_event_hook");
    return whole ? found : Readline{};
  }
};

// Called ten times a second while readline waits for a key: drops the line after Ctrl-C.
int drop_interrupted_line() {
  if (interrupt_came != 0) {
    Readline::loaded()->rl_replace_line("", 0);
    *Readline::loaded()->rl_done = 1;
  }
  return 0;
}

bool edits_lines = false;

}  // namespace

LineEditor::LineEditor(bool edits) {
  edits_lines = edits && Readline::loaded() != nullptr;
  if (edits_lines) {
    *Readline::loaded()->rl_event_hook = drop_interrupted_line;
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
    std::string typed = line;
    std::free(line);  // NOLINT: readline has allocated it
    if (!typed.empty()) {
      Readline::loaded()->add_history(typed.c_str());
    }
    return typed;
  }
  std::fputs(prompt, stderr);
  std::string line;
  if (std::getline(std::cin, line)) {
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
