// Warnings about parameters. Those about settings are in ../messages/examine.yaml.
#include "tools/extras/checks/train/advice.h"

#include <doctest/doctest.h>

#include "layers/embedding.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Logits (B, T, 21) by one of its two layers.
class HalfUsed : public Module {
 public:
  Tensor forward(const Input& in) override { return used_(in); }

 private:
  Child<Embedding> used_{this, "used", Embedding::Config{21, 21}};
  Child<Embedding> idle_{this, "idle", Embedding::Config{2, 3}};
};

}  // namespace

TEST_CASE("advice: parameters without a gradient, of which none is left") {
  const TempDir folder;
  const LoadedRun run = load_small(folder);
  const RunAdvice advice({});
  HalfUsed model;
  CHECK(advice.about_model(run, model) ==
        std::vector<std::string>{
            "1 of the parameters get no gradient and stay as drawn: idle.weight"});
  for (const NamedParameter& each : model.parameters()) CHECK(!each.tensor.grad());
  CHECK(advice.about_model(run, *make_layer(run.config.model)).empty());
}
