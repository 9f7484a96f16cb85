// What is said about a task that cannot be made.
#pragma once

#include <string>

#include "tests/support/temp_dir.h"
#include "train/data/task.h"

namespace heed::testing {

// The message of the error that `make` throws, without the folder's name; "accepted". If the error
// is about a field of the task, the field comes first.
template <class Make>
std::string task_error(const TempDir& folder, Make&& make) {
  std::string message = "accepted";
  try {
    make();
  } catch (const TaskError& wrong) {
    message = wrong.field + ": " + wrong.what();
  } catch (const TaskFileError& wrong) {
    message = wrong.field + ": " + wrong.what();
  } catch (const Error& wrong) {
    message = wrong.what();
  }
  const std::string path = folder.path().string() + "/";
  for (size_t at; (at = message.find(path)) != std::string::npos;) message.erase(at, path.size());
  return message;
}

}  // namespace heed::testing
