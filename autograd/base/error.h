// Errors for people: one line that says what was called, what was expected and what came.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace heed {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A shape, an axis, an id or an option that the called function cannot work with.
class ShapeError : public Error {
  using Error::Error;
};

// The graph was used in a way it does not allow: freed, changed after use, no backward.
class GraphError : public Error {
  using Error::Error;
};

// The command or the config is wrong: another config would run (exit code 2).
class ConfigError : public Error {
  using Error::Error;
};

// A file is missing, unreadable, damaged or cannot be written (exit code 1).
class IoError : public Error {
  using Error::Error;
};

// A loss, a gradient or, in anomaly mode, any value became NaN or infinite (exit code 3).
class DivergedError : public Error {
  using Error::Error;
};

// The parts written one after the other, as a stream would.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

template <class E = ShapeError, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw E(text(parts...));
}

// Throws E with the parts as its message unless `ok`; the message is only built when it is needed.
template <class E = ShapeError, class... Parts>
void require(bool ok, const Parts&... parts) {
  if (!ok) [[unlikely]] {
    fail<E>(parts...);
  }
}

// The known word that `word` is most likely a misspelling of, or "" when none is near
// (edit distance at most a third of the length, at least 1).
std::string nearest(const std::string& word, const std::vector<std::string>& known);

}  // namespace heed
