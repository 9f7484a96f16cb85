// Reading the findings of examine_layer and examine_op.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tools/extras/checks/train/examine_op.h"

namespace heed::testing {

// The messages of all failed checks: "what: message\n".
inline std::string all_messages(const std::vector<Finding>& findings) {
  std::string all;
  for (const Finding& finding : findings) {
    if (!finding.message.empty()) all += finding.what + ": " + finding.message + "\n";
  }
  return all;
}

inline std::string message_of(const std::string& what, const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    if (finding.what == what) return finding.message;
  }
  return "was not examined";
}

// Expects in such messages a check `what` with a message that contains `part`.
inline void expect(const std::string& all, const std::string& what, const std::string& part) {
  CAPTURE(all);
  CHECK(all.find(what + ": ") != std::string::npos);
  CHECK(all.find(part) != std::string::npos);
}

}  // namespace heed::testing
