// What a task may say about a user's file.
#pragma once

#include <sstream>
#include <string>

#include "tests/fuzz/fuzz.h"
#include "train/data/task.h"

namespace heed::fuzz {

// Calls f, which reads the file. Refused, every line of the message begins with the file, or the
// field of the config is known.
template <class F>
void read_user_file(const std::string& file, F&& f) {
  try {
    f();
  } catch (const RowError& error) {
    std::istringstream lines(error.what());
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      expect(line.starts_with(file), "the file at fault, got " + line);
      expect(line.find('\0') == std::string::npos, "no control characters");
    }
    expect(count >= 1 && count <= 11, "at most ten mistakes and their number");
  } catch (const TaskError& error) {
    expect(!error.field.empty(), "the field at fault");
  } catch (const IoError& error) {
    const std::string message = error.what();
    expect(message == file + ": is a Git LFS pointer: git lfs pull fetches the file", message);
  }
}

}  // namespace heed::fuzz
