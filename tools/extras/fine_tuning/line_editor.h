// Lines from a terminal or a pipe.
#pragma once

#include <optional>
#include <string>

namespace heed::cli {

// While one is alive, Ctrl-C (SIGINT) does not end the program. There may be one at a time.
class LineEditor {
 public:
  // edits: both ends are a terminal, where libedit or GNU readline, if installed, edits lines
  // and recalls earlier ones.
  explicit LineEditor(bool edits);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // The next line, after the prompt; "" if Ctrl-C has dropped it, nullopt at the end (Ctrl-D).
  std::optional<std::string> next(const char* prompt);

  // Whether Ctrl-C came after the last call of begin().
  static void begin();
  static bool interrupted();
};

}  // namespace heed::cli
