#include "autograd/base/rethrow.h"

#include <doctest/doctest.h>

using namespace heed;

TEST_CASE("rethrow: error_of gives the message of the type that it is asked for") {
  CHECK(error_of<ConfigError>([] { fail<ConfigError>("lr: expected a number"); }) ==
        "lr: expected a number");
  CHECK(error_of<Error>([] { fail<IoError>(""); }) == "");  // an error without words is one
  CHECK(error_of<ConfigError>([] {}) == std::nullopt);
  CHECK_THROWS_AS(error_of<ConfigError>([] { fail<IoError>("damaged"); }), IoError);
}

TEST_CASE("rethrow: with_place returns what the call does, and names the place of its error") {
  int value = 3;
  CHECK(&with_place<IoError>("", [&]() -> int& { return value; }) == &value);
  CHECK(error_of<DivergedError>([] {
          with_place<DivergedError>("step 7: ", [] { fail<DivergedError>("the loss is NaN"); });
        }) == "step 7: the loss is NaN");
  CHECK(error_of<IoError>([] {
          with_place<ConfigError, IoError>("a.json: ", [] { fail<ConfigError>("no generator"); });
        }) == "a.json: no generator");
  CHECK_THROWS_AS(with_place<IoError>("a: ", [] { fail<ConfigError>("b"); }), ConfigError);
}
