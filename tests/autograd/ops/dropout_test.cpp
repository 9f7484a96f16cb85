#include "autograd/ops/dropout.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

const GradCases dropout_cases("dropout", [](GradCaseList& list) {
  for (const DropoutStream stream : {DropoutStream::mcg31, DropoutStream::mt19937}) {
    for (const double p : {0.0, 0.2, 0.5}) {
      for (const Shape& s : {Shape{17}, Shape{3, 4}, Shape{129}}) {
        list.add(text(name_of(stream), " p ", p, " ", s),
                 [=](In in) {
                   manual_seed(5, Generators::separate, stream);
                   return dropout(in[0], p, true);
                 },
                 {wanted(values(s))});
        list.add(text("and a shortcut, ", name_of(stream), " p ", p, " ", s),
                 [=](In in) {
                   manual_seed(5, Generators::separate, stream);
                   return dropout_add(in[1], in[0], p, true);
                 },
                 {wanted(values(s)), wanted(values(s, -2, 2, 3))});
      }
    }
  }
});

TEST_CASE("dropout: values") {
  for (const DropoutStream stream : {DropoutStream::mcg31, DropoutStream::mt19937}) {
    manual_seed(1, Generators::separate, stream);
    const Array y = dropout(Array::full({100000}, 3), 0.25, true).value();
    int64_t kept = 0;
    for (const real v : y.span()) {
      REQUIRE((v == 0 || v == 3 * (1 / real(0.75))));
      kept += v != 0 ? 1 : 0;
    }
    CHECK(kept > 74400);  // 75000, and four standard deviations
    CHECK(kept < 75600);
  }
}

TEST_CASE("dropout: the mask of the backward is that of the forward") {
  for (const DropoutStream stream : {DropoutStream::mcg31, DropoutStream::mt19937}) {
    manual_seed(1, Generators::separate, stream);
    const Tensor x = wanted(Array::full({50001}, 1));
    const Tensor y = dropout(x, 0.5, true);
    y.backward(Array::full({50001}, 1));
    check_same_bits(y.value(), x.grad());
  }
}

TEST_CASE("dropout: what draws nothing") {
  manual_seed(3);
  const GeneratorState before = streams().dropout().state();
  const Tensor x = wanted(values({100}));
  check_same_bits(dropout(x, 0.5, false).value(), x.value());
  check_same_bits(dropout(x, 0, true).value(), x.value());
  const Tensor zeros = dropout(x, 1, true);
  check_near(zeros, Array::zeros({100}));
  zeros.backward(Array::full({100}, 2));
  check_near(x.grad(), Array::zeros({100}));
  CHECK(dropout(Array::zeros({0}), 0.5, true).size() == 0);
  CHECK(streams().dropout().state() == before);
}

TEST_CASE("dropout: refuses a p that is no probability") {
  CHECK_THROWS_WITH_AS(dropout(Array::zeros({2}), 1.5, true),
                       "dropout: p must be in [0, 1], got 1.5", ConfigError);
  CHECK_THROWS_AS(dropout(Array::zeros({2}), std::nan(""), true), ConfigError);
}

TEST_CASE("dropout_add: the bits of its composed twin, forward and backward, and its draws") {
  for (const double p : {0.0, 0.3, 1.0}) {
    std::vector<Array> seen[2];
    for (const bool fused_form : {false, true}) {
      manual_seed(6);
      const Tensor x = wanted(values({50001})), shortcut = wanted(values({50001}, -2, 2, 3));
      const Tensor y = (fused_form ? dropout_add : dropout_add_composed)(shortcut, x, p, true);
      y.backward(values({50001}, -2, 2, 4));
      seen[fused_form] = {y.value(), x.grad(), shortcut.grad(), dropout(x, 0.5, true).value()};
    }
    for (size_t i = 0; i < seen[0].size(); ++i) {
      check_same_bits(seen[0][i], seen[1][i]);
    }
  }
  check_same_bits(dropout_add(values({3}), values({3}), 0.5, false).value(),
                  add(values({3}), values({3})).value());
  CHECK_THROWS_WITH_AS(dropout_add(Array::zeros({2}), Array::zeros({1}), 0.5, true),
                       "dropout_add: expected a shortcut and x of one shape, got (2,) and (1,)",
                       ShapeError);
}
