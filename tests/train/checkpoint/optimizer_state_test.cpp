// The state of an optimizer in a file of its own, for training loops in C++.
#include "layers/linear.h"
#include "tests/support/small_training.h"
#include "tests/support/temp_dir.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("optimizer state: steps and moments come back bit for bit") {
  const TempDir folder;
  Training saved(1), other(2, 0);
  REQUIRE(moments_of(other.optimizer) != moments_of(saved.optimizer));
  save_optimizer(folder / "o.safetensors", saved.optimizer);
  load_optimizer(other.optimizer, folder / "o.safetensors");
  CHECK(other.optimizer.steps() == 500);
  CHECK(moments_of(other.optimizer) == moments_of(saved.optimizer));
}

TEST_CASE("optimizer state: that of other parameters is refused, and nothing changes") {
  const TempDir folder;
  Training saved(1);
  save_optimizer(folder / "o.safetensors", saved.optimizer);
  Linear layer({.d_in = 3, .d_out = 2});
  Moments other(layer.parameters());
  const std::string before = moments_of(other);
  CHECK_THROWS_AS(load_optimizer(other, folder / "o.safetensors"), IoError);
  CHECK_THROWS_AS(load_optimizer(other, folder / "none.safetensors"), IoError);
  CHECK(moments_of(other) == before);
}
