// Errors of commands as JSON.
#pragma once

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/run_program.h"

namespace heed::testing {

// Checks that the command fails, and that with --json the error is one object on standard output
// too.
inline void check_json_error(const std::vector<std::string>& words) {
  CAPTURE(words.front());
  const ProgramResult plain = run_heed(words);
  CHECK(plain.exit_code != 0);
  CHECK(plain.out.empty());
  std::vector<std::string> more = words;
  more.push_back("--json");
  const ProgramResult json = run_heed(more);
  CHECK(json.exit_code == plain.exit_code);
  CHECK(json.err == plain.err);
  const nlohmann::json object = nlohmann::json::parse(json.out);
  CHECK(object["code"] == plain.exit_code);
  CHECK(object["error"].get<std::string>() + "\n" == plain.err);
  CHECK(object.size() == 2);
}

}  // namespace heed::testing
