// What the tests of the tour share: its answers as JSON, and nested lists of numbers compared.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/run_program.h"

namespace heed::testing {

inline const std::string golden_of_tour = std::string(HEED_SOURCE_DIR) + "/tests/golden/tour/";

inline nlohmann::json golden_tour(const std::string& name) {
  return nlohmann::json::parse(read_text(golden_of_tour + name));
}

// What `heed tour --json` prints with these arguments, such as the name of a step.
inline nlohmann::json tour_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"tour", "--json"});
  const ProgramResult result = run_heed(arguments);
  REQUIRE_MESSAGE(result.exit_code == 0, result.err);
  CHECK(result.err.empty());
  return nlohmann::json::parse(result.out);
}

// The numbers of nested lists, in order.
inline void flatten(const nlohmann::json& value, std::vector<double>& numbers) {
  if (value.is_array()) {
    for (const nlohmann::json& item : value) flatten(item, numbers);
  } else if (value.is_string()) {
    REQUIRE(value == "-inf");
    numbers.push_back(-std::numeric_limits<double>::infinity());
  } else {
    numbers.push_back(value.get<double>());
  }
}

inline std::vector<double> flat(const nlohmann::json& value) {
  std::vector<double> numbers;
  flatten(value, numbers);
  return numbers;
}

// The depth and lengths of nested lists, as text, so that nesting is compared too.
inline std::string nesting_of(const nlohmann::json& value) {
  return value.is_array() && !value.empty() ? text(value.size(), " ", nesting_of(value[0])) : "";
}

// Compares one key; returns the count of compared numbers.
inline int64_t check_key(const std::string& key, const nlohmann::json& got,
                         const nlohmann::json& want, double tolerance) {
  CAPTURE(key);
  CHECK(nesting_of(got) == nesting_of(want));
  const std::vector<double> ours = flat(got), theirs = flat(want);
  REQUIRE(ours.size() == theirs.size());
  for (size_t i = 0; i < ours.size(); ++i) {
    const bool near = ours[i] == theirs[i] || std::abs(ours[i] - theirs[i]) <= tolerance;
    CHECK_MESSAGE(near, text("number ", i, ": got ", ours[i], ", expected ", theirs[i]));
  }
  return static_cast<int64_t>(ours.size());
}

}  // namespace heed::testing
