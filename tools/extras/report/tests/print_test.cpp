#include "tools/extras/report/print.h"

#include <doctest/doctest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

using namespace heed;
using Json = nlohmann::json;

namespace {

Json print_golden() {
  std::ifstream file(std::string(HEED_SOURCE_DIR) + "/tests/golden/tour/printed.json");
  REQUIRE(file.good());
  return Json::parse(file);
}

Shape shape_of(const Json& entry) {
  return Shape(std::span<const int64_t>(entry.at("shape").get<std::vector<int64_t>>()));
}

double number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string word = value.get<std::string>();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  return word == "inf" ? std::numeric_limits<double>::infinity()
                       : -std::numeric_limits<double>::infinity();
}

// The same as spread() in tools/reference/print_golden.py.
double spread(int64_t i) { return static_cast<double>(i * 37 % 1009) / 8 - 50; }

Array array_of(const Json& entry) {
  Array values = Array::uninitialised(shape_of(entry));
  const Json& given = entry.at("values");
  for (int64_t i = 0; i < values.size(); ++i) {
    const double value = given.is_string() ? spread(i) : number(given.at(static_cast<size_t>(i)));
    values.mutable_data()[i] = static_cast<real>(value);
  }
  return values;
}

template <class T>
BasicArray<T> integers_of(const Json& entry) {
  return BasicArray<T>::from(shape_of(entry), entry.at("values").get<std::vector<T>>());
}

}  // namespace

TEST_CASE("print: numbers as PyTorch prints them") {
  int compared = 0;
  const Json cases = print_golden();
  for (const Json& entry : cases.at("cases")) {
    CHECK(printed(array_of(entry)) == entry.at(precision_name).get<std::string>());
    ++compared;
  }
  CHECK(compared >= 50);
}

TEST_CASE("print: ids and masks as PyTorch prints int64 and bool") {
  int compared = 0;
  const Json cases = print_golden();
  for (const Json& entry : cases.at("ids")) {
    CHECK(printed(integers_of<int32_t>(entry)) == entry.at("text").get<std::string>());
    ++compared;
  }
  for (const Json& entry : cases.at("masks")) {
    CHECK(printed(integers_of<uint8_t>(entry)) == entry.at("text").get<std::string>());
    ++compared;
  }
  CHECK(compared == 8);
}

TEST_CASE("print: a tensor is its value") {
  const Tensor parameter = Tensor::parameter(Array::from({2}, {1, 2}));
  CHECK(printed(parameter) == printed(parameter.value()));
}
