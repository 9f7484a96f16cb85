#include "autograd/ops/matmul.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

namespace {

struct Pair {
  Shape a, b;
  Trans ta = Trans::no, tb = Trans::no;
};

const std::vector<Pair> pairs = {
    {{1, 1}, {1, 1}},
    {{2, 3}, {3, 4}},
    {{7, 8}, {8, 9}},
    {{3, 2}, {3, 4}, Trans::yes, Trans::no},
    {{2, 3}, {4, 3}, Trans::no, Trans::yes},
    {{3, 2}, {4, 3}, Trans::yes, Trans::yes},
    {{5, 2, 3}, {3, 4}},
    {{5, 3, 2}, {3, 4}, Trans::yes, Trans::no},
    {{5, 2, 3}, {4, 3}, Trans::no, Trans::yes},
    {{2, 3}, {5, 3, 4}},
    {{2, 3}, {5, 4, 3}, Trans::no, Trans::yes},
    {{5, 2, 3}, {5, 3, 4}},
    {{5, 3, 2}, {5, 4, 3}, Trans::yes, Trans::yes},
    {{2, 1, 2, 3}, {3, 3, 4}},
    {{1, 2, 3}, {1, 3, 2}},
    {{2, 3, 2, 3}, {2, 3, 3, 2}},
    {{2, 1, 2, 3}, {1, 3, 3, 2}},
    {{1, 17}, {17, 1}},
};

// The sum over k of two matrices, in double.
Array naive(const Array& a, const Array& b, bool ta, bool tb) {
  const int64_t m = a.dim(ta ? 1 : 0), k = a.dim(ta ? 0 : 1), n = b.dim(tb ? 0 : 1);
  Array y = Array::uninitialised({m, n});
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l) {
        sum += static_cast<double>(a.data()[ta ? l * m + i : i * k + l]) *
               static_cast<double>(b.data()[tb ? j * k + l : l * n + j]);
      }
      y.mutable_data()[i * n + j] = static_cast<real>(sum);
    }
  }
  return y;
}

}  // namespace

const GradCases matmul_cases("matmul", [](GradCaseList& list) {
  for (const Pair& p : pairs) {
    list.add(text(p.a, " ", p.b, " ", p.ta == Trans::yes, p.tb == Trans::yes),
             [p](In in) { return matmul(in[0], in[1], p.ta, p.tb); },
             {wanted(values(p.a)), wanted(values(p.b, -2, 2, 2))});
  }
  list.add("x x^T", [](In in) { return matmul(in[0], in[0], Trans::no, Trans::yes); },
           {wanted(values({4, 3}))});
});

TEST_CASE("matmul: values") {
  const Tensor a = Array::from({2, 3}, {1, 2, 3, 4, 5, 6}), b = Array::from({3, 1}, {1, 0, -1});
  check_values(matmul(a, b), {2, 1}, {-2, -2});
  int64_t compared = 0;
  for (const int64_t n : odd_sizes) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        const Array x = values(ta ? Shape{n, 5} : Shape{5, n});
        const Array y = values(tb ? Shape{9, n} : Shape{n, 9}, -2, 2, 2);
        compared +=
            check_near(matmul(x, y, ta ? Trans::yes : Trans::no, tb ? Trans::yes : Trans::no),
                       naive(x, y, ta, tb), 20 * rounding);
      }
    }
  }
  CHECK(compared == 10 * 4 * 45);
}

TEST_CASE("matmul: nothing to multiply") {
  CHECK(matmul(Array::zeros({0, 3}), Array::zeros({3, 2})).shape() == Shape{0, 2});
  check_near(matmul(Array::zeros({2, 0}), Array::zeros({0, 3})), Array::zeros({2, 3}));
  CHECK(matmul(Array::zeros({0, 2, 3}), Array::zeros({0, 3, 2})).shape() == Shape{0, 2, 2});
}

TEST_CASE("matmul: batches are matrices side by side") {
  const Array a = values({4, 2, 3}), b = values({4, 3, 5}, -2, 2, 2);
  const Array y = matmul(a, b).value();
  for (int64_t i = 0; i < 4; ++i) {
    const Array one = naive(Array::from({2, 3}, a.span().subspan(i * 6, 6)),
                            Array::from({3, 5}, b.span().subspan(i * 15, 15)), false, false);
    CHECK(check_near(Array::from({2, 5}, y.span().subspan(i * 10, 10)), one) == 10);
  }
}

TEST_CASE("matmul: gradient") { CHECK(check_grad_cases("matmul") > 0); }

TEST_CASE("matmul: the same bits for any number of threads") {
  check_threads([](In in) { return matmul(in[0], in[1]); },
                {values({257, 130}), values({130, 193})});
  check_threads([](In in) { return matmul(in[0], in[1]); },
                {values({6, 33, 65}), values({6, 65, 34})});
}
