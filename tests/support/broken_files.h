// Tables of tests/broken: contents of files, and what is said about each. Lines are
//   # a comment
//   == a setting of all that follows: what it means is up to the reader
//   <> what stands around <> each content that follows, up to the next setting
//   a content
//       what is said about it, set in by four blanks, in one line or more
// In contents and what is said of them, \n, \t, \r and \xFF are such bytes, \*100{[} is 100 times
// [, and \. is nothing, for a content that is empty. Before any other character, \ means that one.
// Of what ends with ..., only the beginning has to be said.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace heed::testing {

struct BrokenFile {
  std::string setting, content, said;
  bool goes_on = false;
  std::string place;  // of the content in the table: "rows.txt:12"
};

// Checks what `reader` says about every content of tests/broken/TABLE: what it returns, or else the
// message of the Error that it throws, or "no error". Returns how many contents there are.
size_t check_broken(const std::string& table,
                    const std::function<std::string(const BrokenFile&)>& reader);

}  // namespace heed::testing
