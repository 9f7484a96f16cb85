// An environment variable. The destructor restores its value.
#pragma once

#include <stdlib.h>

#include <optional>
#include <string>

namespace heed::testing {

class Variable {
 public:
  explicit Variable(const char* name) : name_(name) {
    if (const char* value = ::getenv(name)) before_ = value;
  }
  ~Variable() {
    if (before_) {
      set(before_->c_str());
    } else {
      clear();
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

  void set(const char* value) const { ::setenv(name_, value, 1); }
  void clear() const { ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace heed::testing
