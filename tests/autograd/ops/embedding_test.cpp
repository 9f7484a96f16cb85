#include "autograd/ops/embedding.h"

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/linear.h"
#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

namespace {

Ids scattered(const Shape& shape, int32_t count) {
  Ids numbers = Ids::uninitialised(shape);
  for (int64_t i = 0; i < numbers.size(); ++i) {
    numbers.mutable_data()[i] = static_cast<int32_t>(i * 7 % count);
  }
  return numbers;
}

}  // namespace

const GradCases embedding_cases("embedding", [](GradCaseList& list) {
  for (const int64_t width : {1, 7, 16, 33, 129}) {
    for (const Shape& s : {Shape{}, Shape{5}, Shape{2, 3}}) {
      list.add(text("width ", width, " ids ", s),
               [s](In in) { return embedding(in[0], scattered(s, 4)); },
               {wanted(values({4, width}))});
    }
  }
  list.add("tied to the output",
           [](In in) { return linear(embedding(in[0], scattered({6}, 4)), in[0], Tensor()); },
           {wanted(values({4, 5}))});
});

TEST_CASE("embedding: values") {
  const Tensor table = Array::from({3, 2}, {1, 2, 3, 4, 5, 6});
  check_values(embedding(table, ids({3}, {2, 0, 2})), {3, 2}, {5, 6, 1, 2, 5, 6});
  check_values(embedding(table, ids({1, 2}, {1, 1})), {1, 2, 2}, {3, 4, 3, 4});
  check_values(embedding(table, ids({}, {1})), {2}, {3, 4});
  CHECK(embedding(table, ids({0}, {})).shape() == Shape{0, 2});
}

TEST_CASE("embedding: rows that are not looked up get zeros, a later backward adds") {
  const Tensor table = wanted(Array::zeros({3, 2}));
  embedding(table, ids({2}, {1, 1})).backward(Array::from({2, 2}, {1, 2, 3, 4}));
  check_near(table.grad(), Array::from({3, 2}, {0, 0, 4, 6, 0, 0}));
  embedding(table, ids({1}, {2})).backward(Array::from({1, 2}, {5, 6}));
  check_near(table.grad(), Array::from({3, 2}, {0, 0, 4, 6, 5, 6}));
  const Tensor unused = wanted(Array::zeros({2, 2}));
  embedding(unused, ids({0}, {})).backward(Array::zeros({0, 2}));
  check_near(unused.grad(), Array::zeros({2, 2}));
}

TEST_CASE("embedding: the second backward takes no more memory") {
  const Tensor table = wanted(Array::zeros({5000, 16}));
  const Ids chosen = scattered({8}, 5000);
  embedding(table, chosen).backward(Array::zeros({8, 16}));
  const Tensor y = embedding(table, chosen);
  Array dy = Array::zeros({8, 16});
  pool::reset_peak();
  const int64_t before = pool::stats().peak_bytes;
  y.backward(std::move(dy));
  CHECK(pool::stats().peak_bytes - before < 5000 * 16);
}

TEST_CASE("embedding: the same bits for any number of threads") {
  check_threads([](In in) { return embedding(in[0], scattered({1000}, 50)); }, {values({50, 193})});
}
