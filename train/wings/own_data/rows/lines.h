// Walks through the bytes of a file line by line.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace heed {

// A line without its end, "\n" or "\r\n".
struct Line {
  std::span<char> bytes;
  int64_t number = 0;  // from 1
  std::string_view text() const { return {bytes.data(), bytes.size()}; }
};

class Lines {
 public:
  explicit Lines(std::span<char> file) : left_(file) {}

  // The next line that is not empty; nullopt at the end.
  std::optional<Line> next();

 private:
  std::span<char> left_;
  int64_t number_ = 0;
};

// A cell without the white space at its ends.
std::string_view without_blanks(std::string_view cell);

// What is wrong with the bytes of a text: "" for UTF-8 without NUL bytes, else the end of a
// message, "expected UTF-8, got the byte 0xE9 in column 5". `line` becomes the number of lines
// before it. A column counts characters, from 1.
std::string wrong_bytes(std::string_view text, int64_t& line);

// The column, in characters from 1, of byte `at`, which has valid UTF-8 before it in its line.
int64_t column_of(std::string_view text, size_t at);

}  // namespace heed
