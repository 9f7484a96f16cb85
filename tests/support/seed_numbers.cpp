#include "tests/support/seed_numbers.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/near.h"

namespace heed::testing {

namespace {

void flatten(const nlohmann::json& value, std::vector<real>& numbers) {
  if (value.is_array()) {
    for (const nlohmann::json& element : value) flatten(element, numbers);
  } else {
    numbers.push_back(static_cast<real>(value.get<double>()));
  }
}

Array array_of(const nlohmann::json& value) {
  std::vector<int64_t> dims;
  for (const nlohmann::json* at = &value; at->is_array(); at = &(*at)[0]) {
    dims.push_back(static_cast<int64_t>(at->size()));
  }
  std::vector<real> numbers;
  flatten(value, numbers);
  return Array::from(Shape(dims), numbers);
}

nlohmann::json entry(const std::string& key) {
  std::ifstream file(std::string(HEED_SOURCE_DIR) + "/tests/golden/tour/seed_numbers.json");
  return nlohmann::json::parse(file).at(key);
}

}  // namespace

Array seed_inputs() { return array_of(entry("inputs").at("value")); }

Array seed_batch() {
  const Array once = seed_inputs();
  Array twice = Array::uninitialised({2, 6, 3});
  std::copy_n(once.data(), 18, twice.mutable_data());
  std::copy_n(once.data(), 18, twice.mutable_data() + 18);
  return twice;
}

int64_t check_seed_numbers(const std::string& key, const Array& got) {
  const nlohmann::json numbers = entry(key);
  const Array want = array_of(numbers.at("value"));
  REQUIRE(got.shape() == want.shape());
  const double tolerance = numbers.at("tolerance").get<double>();
  for (int64_t i = 0; i < want.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(static_cast<double>(got.data()[i]) - static_cast<double>(want.data()[i])) <=
          tolerance);
  }
  return want.size();
}

}  // namespace heed::testing
