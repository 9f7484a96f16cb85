#include "layers/module/masks.h"

#include "layers/module/attend.h"
#include "tests/support/near.h"

using namespace heed;
using namespace heed::testing;

namespace {

Mask mask_from(const Shape& shape, std::initializer_list<uint8_t> allowed) {
  return Mask::from(shape, allowed);
}

}  // namespace

TEST_CASE("masks: scores that are hidden get a value, for every form of a mask") {
  const Tensor scores = Array::full({2, 2, 3}, 5);
  const Mask keys = mask_from({2, 3}, {1, 0, 1, 1, 1, 0});
  check_values(masked_scores(scores, keys, 0), {2, 2, 3}, {5, 0, 5, 5, 0, 5, 5, 5, 0, 5, 5, 0});
  const Mask pairs = mask_from({1, 1, 2, 3}, {1, 0, 0, 1, 1, 0});
  check_values(masked_scores(scores, pairs, -1), {2, 2, 3},
               {5, -1, -1, 5, 5, -1, 5, -1, -1, 5, 5, -1});
  CHECK(masked_scores(scores, {}, 0).value().data() == scores.value().data());
  CHECK(error_of([&] {
          masked_scores(scores, mask_from({3, 2}, {1, 1, 1, 1, 1, 1}), 0);
        }) ==
        "attention: expected a mask (B, S) = (2, 3) or (B, 1, T, S) = (2, 1, 2, 3), got (3, 2)");
}

TEST_CASE("masks: tokens that are hidden are 0, and get no gradient") {
  Tensor x = Tensor::parameter(Array::full({2, 2, 2}, 3));
  const Tensor y = masked_tokens(x, mask_from({2, 2}, {1, 0, 0, 1}));
  check_values(y, {2, 2, 2}, {3, 3, 0, 0, 0, 0, 3, 3});
  y.backward(Array::full({2, 2, 2}, 7));
  check_values(Tensor(x.grad()), {2, 2, 2}, {7, 7, 0, 0, 0, 0, 7, 7});
  CHECK(error_of([&] {
          masked_tokens(x, mask_from({2, 3}, {1, 1, 1, 1, 1, 1}));
        }) == "masked_tokens: expected x (B, S, d) and a mask (B, S), got (2, 2, 2) and (2, 3)");
}

TEST_CASE("masks: a rule and what is given, together") {
  const auto causal = [](int64_t t, int64_t s) { return s <= t; };
  const auto numbers = [](const Mask& mask) {
    return std::vector<int>(mask.data(), mask.data() + mask.size());
  };
  CHECK(masked_where({}, 2, 2, 2, causal).shape() == Shape{2, 1, 2, 2});
  CHECK(numbers(masked_where({}, 1, 2, 2, causal)) == std::vector<int>{1, 0, 1, 1});
  const Mask keys = mask_from({2, 2}, {0, 1, 1, 1});
  CHECK(numbers(masked_where(keys, 2, 2, 2, causal)) == std::vector<int>{0, 0, 0, 1, 1, 0, 1, 1});
  const Mask shared = mask_from({1, 1, 2, 2}, {1, 1, 0, 1});
  CHECK(numbers(masked_where(shared, 2, 2, 2, causal)) == std::vector<int>{1, 0, 0, 1, 1, 0, 0, 1});
  const Mask own = mask_from({2, 1, 2, 2}, {1, 1, 0, 1, 0, 1, 1, 1});
  CHECK(numbers(masked_where(own, 2, 2, 2, causal)) == std::vector<int>{1, 0, 0, 1, 0, 0, 1, 1});
  CHECK(error_of([&] { masked_where(keys, 3, 2, 2, causal); }) ==
        "attention: expected a mask (B, S) = (3, 2) or (B, 1, T, S) = (3, 1, 2, 2), got (2, 2)");
}
