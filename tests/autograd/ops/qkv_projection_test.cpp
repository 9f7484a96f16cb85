#include "autograd/ops/qkv_projection.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

namespace {

QkvMaps with_biases(In in) { return {{{in[1], in[2]}, {in[3], in[4]}, {in[5], in[6]}}}; }
QkvMaps without(In in) { return {{{in[1], {}}, {in[2], {}}, {in[3], {}}}}; }

// x, and weights and biases of q, k and v with so many rows.
std::vector<Array> parameters(const Shape& x, int64_t q, int64_t k, int64_t v) {
  return {values(x),
          values({q, x[-1]}, -1, 1, 2),
          values({q}, -2, 2, 3),
          values({k, x[-1]}, -1, 1, 4),
          values({k}, -2, 2, 5),
          values({v, x[-1]}, -1, 1, 6),
          values({v}, -2, 2, 7)};
}

std::vector<Tensor> all_wanted(const std::vector<Array>& arrays) {
  std::vector<Tensor> tensors;
  for (const Array& array : arrays) tensors.push_back(wanted(array));
  return tensors;
}

}  // namespace

const GradCases qkv_projection_cases("qkv_projection", [](GradCaseList& list) {
  const auto add = [&](const Shape& x, int64_t q, int64_t k, int64_t v) {
    const std::vector<Tensor> all = all_wanted(parameters(x, q, k, v));
    const std::string name = text(x, " to ", q, ", ", k, " and ", v);
    list.add(
        name, [](In in) { return qkv_projection(in[0], with_biases(in)); }, all);
    list.add(
        "composed " + name, [](In in) { return qkv_projection_composed(in[0], with_biases(in)); },
        all);
    list.add("no biases " + name, [](In in) { return qkv_projection(in[0], without(in)); },
             {all[0], all[1], all[3], all[5]});
  };
  add({3}, 2, 2, 2);
  add({1, 1}, 1, 1, 1);
  add({2, 3, 5}, 4, 2, 2);
  add({5, 17}, 15, 3, 7);
});

TEST_CASE("qkv_projection: gradient") { CHECK(check_grad_cases("qkv_projection") > 0); }

TEST_CASE("qkv_projection: values, queries first and values last") {
  const Tensor x = Array::from({1, 2}, {1, -2});
  const Tensor q = Array::from({1, 2}, {1, 0}), k = Array::from({2, 2}, {0, 1, 1, 1});
  const Tensor v = Array::from({1, 2}, {2, -2});
  check_values(qkv_projection(x, {{{q, {}}, {k, {}}, {v, {}}}}), {1, 4}, {1, -2, -1, 6});
}

TEST_CASE("qkv_projection: fused and composed agree") {
  for (const int64_t n : odd_sizes) {
    check_twins([](In in) { return qkv_projection(in[0], with_biases(in)); },
                [](In in) { return qkv_projection_composed(in[0], with_biases(in)); },
                parameters({2, 5, n}, 9, n, 4), 40 * rounding);
  }
}

TEST_CASE("qkv_projection: only some gradients wanted, and what was gathered before stays") {
  const std::vector<Array> in = parameters({4, 3}, 2, 3, 2);
  std::vector<Tensor> all = all_wanted(in), some(in.begin(), in.end());
  some[3] = wanted(in[3]);
  some[6] = wanted(in[6]);
  const Array dy = values({4, 7}, -1, 1, 9);
  qkv_projection(all[0], with_biases(all)).backward(dy);
  for (const real times : {real{1}, real{2}}) {
    qkv_projection(some[0], with_biases(some)).backward(dy);
    for (const size_t k : {3, 6}) {
      check_near(some[k].grad(), (Tensor(all[k].grad()) * times).value());
    }
  }
  CHECK_FALSE(some[1].grad());
}

TEST_CASE("qkv_projection: one weight for queries and keys gets both gradients") {
  const Tensor x = values({300, 70}), shared = wanted(values({200, 70}));
  const Tensor q = wanted(shared.value()), k = wanted(shared.value()), v = values({30, 70});
  const Array dy = values({300, 430}, -1, 1, 9);
  qkv_projection(x, {{{shared, {}}, {shared, {}}, {v, {}}}}).backward(dy);
  qkv_projection(x, {{{q, {}}, {k, {}}, {v, {}}}}).backward(dy);
  check_near(shared.grad(), (Tensor(q.grad()) + Tensor(k.grad())).value());
}

TEST_CASE("qkv_projection: no rows, and the same bits for any number of threads") {
  const Tensor w = wanted(values({3, 2}));
  qkv_projection(Array::zeros({0, 2}), {{{w, {}}, {w, {}}, {w, {}}}})
      .backward(Array::zeros({0, 9}));
  check_near(w.grad(), Array::zeros({3, 2}));
  check_threads([](In in) { return qkv_projection(in[0], with_biases(in)); },
                parameters({300, 129}, 193, 65, 129));
}

TEST_CASE("qkv_projection: refuses what linear refuses, and one bias alone") {
  const Tensor x = Array::zeros({2, 3}), w = Array::zeros({4, 3}), wrong = Array::zeros({3, 2});
  CHECK_THROWS_AS(qkv_projection(x, {{{w, {}}, {wrong, {}}, {w, {}}}}), ShapeError);
  CHECK_THROWS_AS(qkv_projection(x, {{{w, Array::zeros({4})}, {w, {}}, {w, {}}}}), ShapeError);
}
