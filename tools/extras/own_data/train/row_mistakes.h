// What is wrong with the lines of a data file: all mistakes are counted, the first ten are shown.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "train/data/task.h"

namespace heed {

class RowMistakes {
 public:
  explicit RowMistakes(std::string file) : file_(std::move(file)) {}

  // "what was expected, what came": a mistake in a line, counted from 1.
  template <class... Parts>
  void add(int64_t line, const Parts&... parts) {
    if (++count_ <= most_shown) {
      shown_.push_back(text(file_, ":", line, ": ", parts...));
    }
  }
  int64_t count() const { return count_; }
  // Throws RowError if there are any.
  void throw_if_any() const;

  // Throws RowError about the whole file.
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail<RowError>(file_, ": ", parts...);
  }
  const std::string& file() const { return file_; }

 private:
  static constexpr int64_t most_shown = 10;

  const std::string file_;
  int64_t count_ = 0;
  std::vector<std::string> shown_;
};

// "neg, pos": names in a message, up to `most` of them.
std::string listed(const std::vector<std::string>& names, size_t most = SIZE_MAX);

}  // namespace heed
