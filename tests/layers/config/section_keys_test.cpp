#include "layers/config/section_keys.h"

#include <doctest/doctest.h>

#include "layers/config/describe.h"
#include "layers/config/read.h"
#include "tests/support/errors.h"
#include "tests/support/run_program.h"
#include "train/yaml/yaml.h"

using namespace heed;
using namespace heed::testing;

namespace {

struct Salt {
  int64_t grains = 3;
  void fields(Fields& f) { f.optional("grains", grains, at_least(1), "how many"); }
  void check(ConfigErrors& errors, const ConfigNode& at) const {
    if (grains > 8) errors.add_field(at, "grains", "too salty");
  }
};
struct Pepper {
  std::vector<std::string> kinds;
  void fields(Fields& f) { f.optional("kinds", kinds, "which"); }
};
struct Sugar {
  void fields(Fields&) {}
};

struct Dish {
  std::string name = "soup";
  SectionKeys extra{"dish of a test"};
  void fields(Fields& f) {
    f.optional("name", name, "its name");
    extra.own_fields(f);
  }
  void check(ConfigErrors& errors, const ConfigNode& at) const { extra.check(errors, at); }
};

const Dish& plain_dish() {
  static const Dish dish = [] {
    keys_registry().add<Salt>("dish of a test");
    keys_registry().add<Pepper>("dish of a test");
    return Dish();
  }();
  return dish;
}

std::string mistakes_of_dish(const std::string& yaml) {
  return error_of([&] { read_fields<Dish>(parse_config(yaml, "c.yaml")); });
}

}  // namespace

TEST_CASE("section keys: they are read, checked and written as the section's own") {
  CHECK(plain_dish().extra.get<Salt>().grains == 3);
  const Dish dish = read_fields<Dish>(parse_config("{grains: 5, kinds: [red]}", "c.yaml"));
  CHECK(dish.extra.get<Salt>().grains == 5);
  CHECK(dish.extra.get<Pepper>().kinds == std::vector<std::string>{"red"});
  CHECK(to_yaml(write_fields(dish)) == "name: soup\ngrains: 5\nkinds: [red]\n");
  CHECK(contains(mistakes_of_dish("{grains: 0}"), "c.yaml:1:10: grains: expected a whole number"));
  CHECK(contains(mistakes_of_dish("{grains: 9}"), "c.yaml:1:10: grains: too salty"));
  CHECK(contains(mistakes_of_dish("{grain: 9}"), "unknown key, did you mean grains?"));
}

TEST_CASE("section keys: a copy has its own values; a struct that is not registered is an error") {
  Dish dish = plain_dish(), copy = dish;
  copy.extra.own<Salt>().grains = 7;
  CHECK(dish.extra.get<Salt>().grains == 3);
  CHECK(copy.extra.get<Salt>().grains == 7);
  CHECK(contains(error_of([&] { dish.extra.get<Sugar>(); }), "expected a line HEED_KEYS"));
}
