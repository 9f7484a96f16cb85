// The messages of exceptions.
#pragma once

#include <functional>
#include <string>

#include "autograd/base/error.h"

namespace heed::testing {

// The message of the E that f throws; "no error" if it throws none.
template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

// The same of any error of heed's.
inline std::string error_of(const std::function<void()>& f) { return message_of<Error>(f); }

}  // namespace heed::testing
