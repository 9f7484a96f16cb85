// What is wrong with the tensors of a file, compared with a model.
#pragma once

#include <string>
#include <utility>

#include "autograd/base/error.h"

namespace heed {

// All mistakes are counted, the first ten are shown.
class TensorMistakes {
 public:
  explicit TensorMistakes(std::string path) : path_(std::move(path)) {}

  // Calls `message()` only for a mistake that is shown.
  template <class Message>
  void add(const Message& message) {
    if (count_++ < shown) {
      lines_ += (lines_.empty() ? "" : "\n") + path_ + ": " + message();
    }
  }

  // Throws IoError with a line for each, if there are any.
  void throw_if_any() const {
    require<IoError>(count_ == 0, lines_,
                     count_ > shown ? text("\n", path_, ": and ", count_ - shown, " more") : "");
  }

 private:
  static constexpr size_t shown = 10;
  std::string path_;
  std::string lines_;
  size_t count_ = 0;
};

}  // namespace heed
