#include <heed/testing.h>

#include "half_life_schedule.h"
#include "letter_tokenizer.h"
#include "lion.h"
#include "running_max_task.h"

using namespace heed;

TEST_CASE("running_max: everything that is expected of a task, and its targets") {
  testing::check_task("{type: running_max}");
  testing::check_task("{type: running_max, length: 20, symbols: 5}");
  extension::RunningMaxTask task({.length = 10, .symbols = 4}, {});
  Generator data(1);
  const Batch batch = task.data().next(2, data);
  REQUIRE(batch.targets.shape() == Shape{2, 10});
  for (int64_t i = 0; i < 20; ++i) {
    const int32_t* row = batch.input.ids.data() + i / 10 * 10;
    CHECK(batch.targets.data()[i] == *std::max_element(row, row + i % 10 + 1));
  }
}

TEST_CASE("running_max: prompts") {
  const extension::RunningMaxTask task({.length = 10, .symbols = 4}, {});
  task.check_prompt("3 0 2");
  CHECK_THROWS_AS(task.check_prompt(""), ConfigError);
  CHECK_THROWS_AS(task.check_prompt("3 4"), ConfigError);
  CHECK(task.target_name(3) == "3");
}

TEST_CASE("lion: two steps by hand") {
  NamedParameter p{"p", Tensor::parameter(Array::from({2}, {1, -1}))};
  extension::Lion lion({.lr = 0.1, .betas = {0.9, 0.5}}, {p});
  p.tensor.set_grad(Array::from({2}, {2, -4}));
  const NoGrad off;
  lion.step(0.1);  // the signs of 0.2 and -0.4; then m = 1, -2
  CHECK(p.tensor.value().data()[0] == doctest::Approx(0.9));
  CHECK(p.tensor.value().data()[1] == doctest::Approx(-0.9));
  p.tensor.set_grad(Array::from({2}, {-8, 0}));
  lion.step(0.1);  // 0.9 - 0.8 > 0; -1.8 < 0
  CHECK(p.tensor.value().data()[0] == doctest::Approx(0.8));
  CHECK(p.tensor.value().data()[1] == doctest::Approx(-0.8));
}

TEST_CASE("half_life: halves") {
  const extension::HalfLifeSchedule schedule({.half_life = 10}, {.lr = 1, .steps = 100});
  CHECK(schedule.lr(1) == 1);
  CHECK(schedule.lr(11) == doctest::Approx(0.5));
  CHECK(schedule.lr(21) == doctest::Approx(0.25));
}

TEST_CASE("letters: there and back, with all but letters as one token") {
  const extension::LetterTokenizer letters({}, {});
  const std::vector<int32_t> ids = letters.encode("To be");
  CHECK(ids == std::vector<int32_t>{19, 14, 26, 1, 4});
  CHECK(letters.decode(ids) == "to_be");
}
