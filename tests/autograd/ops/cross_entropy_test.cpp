#include "autograd/ops/cross_entropy.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Targets from all classes; every fifth is ignored.
Ids some_targets(const Shape& shape, int64_t classes, int32_t ignored = -100) {
  Ids t = Ids::uninitialised(shape);
  for (int64_t i = 0; i < t.size(); ++i) {
    t.mutable_data()[i] = i % 5 == 4 ? ignored : static_cast<int32_t>(i * 3 % classes);
  }
  return t;
}

}  // namespace

const GradCases cross_entropy_cases("cross_entropy", [](GradCaseList& list) {
  for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
    for (const int64_t n : {2, 7, 16, 33, 129}) {
      for (const Shape& s : {Shape{}, Shape{6}, Shape{2, 3}}) {
        const Shape logits = s.inserted(s.rank(), n);
        const std::string name = text(reduction == Reduction::sum ? "sum " : "mean ", logits);
        list.add(name,
                 [=](In in) {
                   return cross_entropy(in[0], some_targets(s, n), {.reduction = reduction});
                 },
                 {wanted(values(logits))});
      }
      list.add(text("composed ", n),
               [=](In in) {
                 return cross_entropy_composed(in[0], some_targets({6}, n),
                                               {.reduction = reduction});
               },
               {wanted(values({6, n}))});
    }
  }
  list.add("another ignore_index",
           [](In in) { return cross_entropy(in[0], some_targets({6}, 4, 2), {.ignore_index = 2}); },
           {wanted(values({6, 4}))});
});

TEST_CASE("cross_entropy: values") {
  const real log2 = std::log(real{2});
  check_values(cross_entropy(Array::zeros({3, 2}), ids({3}, {0, 1, 0})), {}, {log2});
  check_values(
      cross_entropy(Array::zeros({3, 2}), ids({3}, {0, 1, 0}), {.reduction = Reduction::sum}), {},
      {3 * log2});
  check_values(cross_entropy(Array::from({2, 2}, {0, 0, 5, 5}), ids({2}, {1, -100})), {}, {log2});
  check_values(cross_entropy(Array::from({2, 2}, {1000, 0, 0, 1000}), ids({2}, {0, 0})), {}, {500});
  check_values(cross_entropy(Array::from({1, 3}, {-inf, 0, 0}), ids({1}, {1})), {}, {log2});
  check_values(cross_entropy(Array::from({1, 2}, {-inf, 0}), ids({1}, {0})), {}, {inf});
  CHECK(counted_targets(ids({4}, {0, -100, 3, -100})) == 2);
}

TEST_CASE("cross_entropy: fused and composed agree") {
  for (const int64_t n : odd_sizes) {
    for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
      const CrossEntropyOptions options = {.reduction = reduction};
      const Ids targets = some_targets({2, 9}, n);
      check_twins([&](In in) { return cross_entropy(in[0], targets, options); },
                  [&](In in) { return cross_entropy_composed(in[0], targets, options); },
                  {values({2, 9, n}, -10, 10)});
    }
  }
}

TEST_CASE("cross_entropy: nothing but ignored targets") {
  for (const bool composed : {false, true}) {
    const Tensor x = wanted(Array::full({2, 3}, 5));
    const Ids targets = ids({2}, {-100, -100});
    const Tensor y = composed ? cross_entropy_composed(x, targets) : cross_entropy(x, targets);
    CHECK(y.item() == 0);
    y.backward();
    check_near(x.grad(), Array::zeros({2, 3}));
  }
  CHECK(cross_entropy(Array::zeros({0, 3}), ids({0}, {})).item() == 0);
}

TEST_CASE("cross_entropy: a row of -infinity has no gradient, a NaN stays") {
  const Tensor x = wanted(Array::from({2, 2}, {-inf, -inf, 0, 0}));
  const Tensor y = cross_entropy(x, ids({2}, {0, 1}));
  CHECK(y.item() == inf);
  y.backward();
  check_near(x.grad(), Array::from({2, 2}, {0, 0, 0.25, -0.25}));
  CHECK(std::isnan(cross_entropy(Array::from({1, 2}, {not_a_number, 0}), ids({1}, {1})).item()));
  CHECK(std::isnan(
      cross_entropy(Array::from({1, 2}, {not_a_number, not_a_number}), ids({1}, {1})).item()));
}

TEST_CASE("cross_entropy: writes over logits that nobody holds, and only over those") {
  const Ids targets = some_targets({300}, 500);
  const Tensor x = wanted(values({300, 500}));
  const Tensor kept = x * 1;
  cross_entropy(kept, targets).backward();
  check_same_bits(kept.value(), x.value());
  const Array expected = x.grad();
  Tensor again = wanted(values({300, 500}));
  const Tensor loss = cross_entropy(again * 1, targets);
  pool::reset_peak();
  const int64_t before = pool::stats().peak_bytes;
  loss.backward();
  check_same_bits(again.grad(), expected);
  // The backward allocates one array of this size, for multiply: the gradient of the loss
  // overwrites the value of again * 1.
  CHECK(pool::stats().peak_bytes - before < 3 * 300 * 500 * static_cast<int64_t>(sizeof(real)) / 2);
}

TEST_CASE("cross_entropy: a row with a NaN or +infinity has no loss, whatever the target") {
  std::vector<real> bad = nans_with_payloads();
  bad.push_back(inf);
  for (const real x : bad) {
    for (const int32_t target : {0, 1, 2}) {
      const Array logits = Array::from({1, 3}, {-inf, x, 0});
      const real loss = cross_entropy(logits, ids({1}, {target})).item();
      // The composed form picks log_softmax at the target, NaN here as well.
      CHECK(std::isnan(loss));
      CHECK(std::isnan(cross_entropy_composed(logits, ids({1}, {target})).item()));
    }
  }
  check_values(cross_entropy(Array::from({1, 2}, {-inf, -inf}), ids({1}, {0})), {}, {inf});
}
