// Exceptions. A message is one line: what was called, what was expected, what was passed, as in
// "linear: expected x (..., in) and weight (out, in), got (4, 7) and (3, 8)".
#pragma once

#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace heed {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  virtual int exit_code() const { return 1; }  // of `heed`, when it ends with this error
  // Whether the message begins with a place: a file, or a line of a config.
  virtual bool has_place() const { return false; }
};

// An argument is wrong: a shape, an axis, an id or an option.
class ShapeError : public Error {
  using Error::Error;
};

// A backward is impossible: the graph is freed, a saved value has changed, or an operation has no
// backward.
class GraphError : public Error {
  using Error::Error;
};

// The command or the config is wrong (exit code 2).
class ConfigError : public Error {
 public:
  using Error::Error;
  int exit_code() const override { return 2; }
};

// A file is missing, damaged, or cannot be read or written (exit code 1).
class IoError : public Error {
 public:
  using Error::Error;
  bool has_place() const override { return true; }
};

// A loss or gradient is NaN or infinite; in anomaly mode, any value (exit code 3).
class DivergedError : public Error {
 public:
  using Error::Error;
  int exit_code() const override { return 3; }
};

// Concatenates the parts, each formatted as by operator<<, whatever locale a host program has set.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  (out << ... << parts);
  return out.str();
}

template <class E = ShapeError, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw E(text(parts...));
}

// Throws E with the parts as its message unless `ok`. The message is built only if it is thrown.
template <class E = ShapeError, class... Parts>
void require(bool ok, const Parts&... parts) {
  if (!ok) [[unlikely]] {
    fail<E>(parts...);
  }
}

// Changes ASCII letters alone.
std::string in_lower_case(std::string word);

// Returns the closest known word, for "did you mean ...?": fewest edits, then the longest common
// beginning, then the nearest length. Upper and lower case are the same. "" if none is within
// `most` edits, a third of the word's length (at least 1).
std::string nearest(const std::string& word, const std::vector<std::string>& known);
std::string nearest(const std::string& word, const std::vector<std::string>& known, size_t most);

// How a message about an unknown word ends: ", did you mean adamw?", or `otherwise` if none is
// near.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known,
                         const std::string& otherwise = "");

}  // namespace heed
