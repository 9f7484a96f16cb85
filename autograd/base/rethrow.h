// What becomes of the errors of a call: a message to go on with, or the same error with its place.
#pragma once

#include <optional>
#include <string>

#include "autograd/base/error.h"

namespace heed {

// The message of the E that f() throws; nullopt if it throws none.
template <class E, class F>
std::optional<std::string> error_of(F&& f) {
  try {
    f();
    return {};
  } catch (const E& error) {
    return error.what();
  }
}

// Returns f(). A From that it throws becomes a To, with `place` before the message.
template <class From, class To = From, class F>
decltype(auto) with_place(const std::string& place, F&& f) {
  try {
    return f();
  } catch (const From& error) {
    fail<To>(place, error.what());
  }
}

}  // namespace heed
