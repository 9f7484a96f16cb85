// Undoes what was begun, where an exception ends it.
#pragma once

#include <exception>
#include <utility>

namespace heed {

// Calls undo() if its scope is left by an exception.
template <class Undo>
class OnFailure {
 public:
  explicit OnFailure(Undo undo) : undo_(std::move(undo)) {}
  ~OnFailure() {
    if (std::uncaught_exceptions() > before_) undo_();
  }
  OnFailure(const OnFailure&) = delete;
  OnFailure& operator=(const OnFailure&) = delete;

 private:
  Undo undo_;
  const int before_ = std::uncaught_exceptions();
};

}  // namespace heed
