#include "layers/module/children.h"

#include "layers/linear.h"
#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

struct Branches final : Module {
  explicit Branches(bool has_last)
      : each(child_list<Linear>(this, "each", 2, Linear::Config{2, 2, false})),
        last(optional_child<Linear>(has_last, this, "last", Linear::Config{2, 1, false})) {}
  std::vector<Child<Linear>> each;
  std::optional<Child<Linear>> last;

 protected:
  Tensor forward(const Input& in) override { return each[1](each[0](in)); }
};

std::string names(const Module& module) {
  std::string all;
  for (const NamedParameter& parameter : module.parameters()) all += parameter.name + " ";
  return all;
}

}  // namespace

TEST_CASE("children: a list of them and an optional one have their names") {
  CHECK(names(Branches(true)) == "each.0.weight each.1.weight last.weight ");
  const Branches without(false);
  CHECK(names(without) == "each.0.weight each.1.weight ");
  CHECK(!without.last);
  CHECK(without.children().size() == 2);
}
