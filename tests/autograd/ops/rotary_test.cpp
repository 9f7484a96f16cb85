#include "autograd/ops/rotary.h"

#include "autograd/ops/matmul.h"
#include "autograd/ops/permute.h"
#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

namespace {
const Array table = rotary_table(11, 6);
}

const GradCases rotary_cases("rotary", [](GradCaseList& list) {
  for (const Shape& s : {Shape{5, 6}, Shape{2, 5, 6}, Shape{2, 1, 18}, Shape{1, 2, 3, 12}}) {
    for (const int64_t first : {0, 6}) {
      list.add(text(s, " from ", first),
               [first](In in) { return rotary(in[0], rotary_table(11, 6), first); },
               {wanted(values(s))});
      list.add(text("composed ", s, " from ", first),
               [first](In in) { return rotary_composed(in[0], rotary_table(11, 6), first); },
               {wanted(values(s))});
    }
  }
});

const GradCases partial_cases("partial rotary", [](GradCaseList& list) {
  for (const int64_t width : {7, 8}) {
    for (const auto& [name, op] : {std::pair{"fused", &rotary}, {"composed", &rotary_composed}}) {
      list.add(text(name, " 6 of ", width),
               [width, op = op](In in) { return op(in[0], rotary_table(11, 6), 2, width); },
               {wanted(values({2, 5, 3 * width}))});
    }
  }
});

TEST_CASE("rotary: values") {
  // One head of width 2 is a vector in the plane, rotated by one radian per position.
  const Array turned = rotary(Array::from({3, 2}, {1, 0, 1, 0, 0, 1}), rotary_table(3, 2)).value();
  check_values(turned, {3, 2},
               {1, 0, std::cos(real(1)), std::sin(real(1)), -std::sin(real(2)), std::cos(real(2))});
  // The pairs are (0, 2) and (1, 3); the angle of the second is 100 times smaller, and larger for a
  // smaller base.
  check_near(rotary(Array::from({1, 4}, {1, 1, 0, 0}), rotary_table(9, 4), 7).value(),
             Array::from({1, 4}, {std::cos(real(7)), std::cos(real(0.07)), std::sin(real(7)),
                                  std::sin(real(0.07))}));
  check_near(rotary_table(3, 4, 100),
             Array::from({3, 4}, {1, 1, 0, 0, std::cos(real(1)), std::cos(real(0.1)),
                                  std::sin(real(1)), std::sin(real(0.1)), std::cos(real(2)),
                                  std::cos(real(0.2)), std::sin(real(2)), std::sin(real(0.2))}));
}

TEST_CASE("rotary: products depend on the distance alone") {
  const Tensor q(values({1, 6})), k(values({1, 6}, -2, 2, 9));
  const auto product = [&](int64_t at_q, int64_t at_k) {
    return matmul(rotary(q, table, at_q), rotary(k, table, at_k), Trans::no, Trans::yes).value();
  };
  check_near(product(3, 1), product(10, 8));
  CHECK(std::abs(product(3, 1).data()[0] - product(3, 2).data()[0]) > 0.01);
}

TEST_CASE("rotary: a part of each head turns as a head of that width, the rest stays") {
  const Array x = values({2, 5, 16});  // two heads of 8
  const Array y = rotary(x, table, 4, 8).value();
  const auto part_of = [](const Array& all, int64_t from, int64_t to) {
    return slice(reshape(Tensor(all), {2, 5, 2, 8}), -1, from, to);
  };
  check_same_bits(part_of(y, 6, 8).value(), part_of(x, 6, 8).value());
  check_same_bits(reshape(part_of(y, 0, 6), {2, 5, 12}).value(),
                  rotary(reshape(part_of(x, 0, 6), {2, 5, 12}), table, 4).value());
}

TEST_CASE("rotary: fused and composed agree, and the same bits for any number of threads") {
  for (const int64_t width : {2, 6, 64}) {
    for (const int64_t heads : {1, 3}) {
      const Array angles = rotary_table(40, width);
      const auto turned = [&](In in) { return rotary(in[0], angles, 3); };
      const std::vector<Array> in{values({2, 33, heads * width})};
      check_twins(
          turned, [&](const std::vector<Tensor>& x) { return rotary_composed(x[0], angles, 3); },
          in);
      check_threads(turned, in);
      const auto partly = [&](const std::vector<Tensor>& of) {
        return rotary(of[0], angles, 3, width + 3);
      };
      const std::vector<Array> wider{values({2, 33, heads * (width + 3)})};
      check_twins(
          partly,
          [&](const std::vector<Tensor>& of) {
            return rotary_composed(of[0], angles, 3, width + 3);
          },
          wider);
      check_threads(partly, wider);
    }
  }
}
