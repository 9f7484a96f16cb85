#include "autograd/ops/permute.h"

#include "autograd/ops/arithmetic.h"
#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

namespace {

// The definition: one element at a time.
Array naive(const Array& x, const std::vector<int>& order) {
  std::vector<int64_t> dims;
  for (const int axis : order) dims.push_back(x.dim(axis));
  Array y = Array::uninitialised(Shape(std::span<const int64_t>(dims)));
  for (int64_t i = 0; i < y.size(); ++i) {
    std::vector<int64_t> index(order.size());
    int64_t rest = i;
    for (int k = y.rank() - 1; k >= 0; --k) {
      index[order[k]] = rest % y.dim(k);
      rest /= y.dim(k);
    }
    int64_t from = 0;
    for (int k = 0; k < x.rank(); ++k) from = from * x.dim(k) + index[k];
    y.mutable_data()[i] = x.data()[from];
  }
  return y;
}

Array permuted_by(const Array& x, const std::vector<int>& order) {
  AxisOrder axes{};
  std::copy(order.begin(), order.end(), axes.begin());
  return permuted(x, axes);
}

}  // namespace

const GradCases permute_cases("permute", [](GradCaseList& list) {
  for (const Shape& s : {Shape{2, 3, 4}, Shape{1, 3, 2}, Shape{3, 1, 17}}) {
    const std::vector<Tensor> x = {wanted(values(s))};
    list.add(
        text("permute 0 1 2 ", s),
        [](In in) {
          return permute(in[0], {0, 1, 2});
        },
        x);
    list.add(
        text("permute 1 0 2 ", s),
        [](In in) {
          return permute(in[0], {1, 0, 2});
        },
        x);
    list.add(
        text("permute 2 0 1 ", s),
        [](In in) {
          return permute(in[0], {2, 0, 1});
        },
        x);
    list.add(
        text("permute 1 2 0 ", s),
        [](In in) {
          return permute(in[0], {1, 2, 0});
        },
        x);
    list.add(
        text("transpose 0 2 ", s), [](In in) { return transpose(in[0], 0, 2); }, x);
    list.add(
        text("transpose -1 -2 ", s), [](In in) { return transpose(in[0], -1, -2); }, x);
  }
  list.add("heads", [](In in) { return transpose(in[0], 1, 2); }, {wanted(values({2, 3, 2, 4}))});
  list.add("one axis", [](In in) { return permute(in[0], {0}); }, {wanted(values({5}))});
});

TEST_CASE("permute: values") {
  check_values(transpose(Array::from({2, 3}, {1, 2, 3, 4, 5, 6}), 0, 1), {3, 2},
               {1, 4, 2, 5, 3, 6});
  int64_t compared = 0;
  for (const Shape& s :
       {Shape{2, 3, 4, 5}, Shape{1, 33, 2, 17}, Shape{3, 1, 1, 129}, Shape{16, 2, 31, 1}}) {
    std::vector<int> order = {0, 1, 2, 3};
    const Array x = values(s);
    do {
      compared += check_near(permuted_by(x, order), naive(x, order), 0);
    } while (std::next_permutation(order.begin(), order.end()));
  }
  CHECK(compared == 24 * (120 + 1122 + 387 + 992));
  CHECK(transpose(Array::zeros({0, 3}), 0, 1).shape() == Shape{3, 0});
  CHECK(permute(Tensor(real{1}), {}).shape() == Shape{});
}

TEST_CASE("permute: odd sizes") {
  for (const int64_t m : odd_sizes) {
    for (const int64_t n : odd_sizes) {
      const Array x = values({m, n});
      CHECK(check_near(permuted_by(x, {1, 0}), naive(x, {1, 0}), 0) == m * n);
    }
  }
}
