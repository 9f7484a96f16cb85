#include "autograd/ops/linear_cross_entropy.h"

#include "autograd/array/storage.h"
#include "autograd/kernels/choice.h"
#include "autograd/threads/parallel.h"
#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Targets of all classes, every fourth ignored.
Ids targets_of_rows(const Shape& shape, int64_t classes) {
  Ids t = Ids::uninitialised(shape);
  for (int64_t i = 0; i < t.size(); ++i) {
    t.mutable_data()[i] = i % 4 == 3 ? -100 : static_cast<int32_t>(i * 7 % classes);
  }
  return t;
}

// The loss has its value after the backward pass. Here it has it at once, as checks expect; without
// a graph it is that of the definition.
Tensor with_its_value(const Tensor& x, const Tensor& weight, const Ids& targets) {
  const CrossEntropyOptions summed{.reduction = Reduction::sum};
  const Tensor value = cross_entropy_composed(
      linear_composed(x.detach(), weight.detach(), Tensor()), targets, summed);
  return NoGrad::recording()
             ? record("with_its_value", value.value(), {linear_cross_entropy(x, weight, targets)},
                      [](const Array& dy, Grads& grads) { grads.add(0, dy); })
             : value;
}

// The loss, d x and d weight of two uses in one graph, which add up: in pieces, or by the two
// operations.
std::vector<Array> loss_and_gradients(const Shape& shape, int64_t vocabulary, bool in_pieces) {
  const Ids targets = targets_of_rows(shape.without(-1), vocabulary);
  const Tensor x = wanted(values(shape)), w = wanted(values({vocabulary, shape[-1]}, -1, 1));
  const CrossEntropyOptions summed{.reduction = Reduction::sum};
  const auto loss = [&](const Tensor& of) {
    return in_pieces ? linear_cross_entropy(of, w, targets)
                     : cross_entropy(linear(of, w, Tensor()), targets, summed);
  };
  const Tensor first = loss(x), second = loss(x * real(0.5));
  (first + second).backward(Array::full({}, real(0.01)));
  return {first.value(), second.value(), x.grad(), w.grad()};
}

}  // namespace

const GradCases linear_cross_entropy_cases("linear_cross_entropy", [](GradCaseList& list) {
  for (const Shape& shape : {Shape{3}, Shape{5, 3}, Shape{2, 3, 4}, Shape{390, 2}}) {
    const Ids targets = targets_of_rows(shape.without(-1), 6);
    list.add(text("x ", shape), [=](In in) { return with_its_value(in[0], in[1], targets); },
             {wanted(values(shape)), wanted(values({6, shape[-1]}))});
  }
  const Ids targets = targets_of_rows({5}, 6);
  const Tensor x(values({5, 3})), w(values({6, 3}));
  list.add("of x alone", [=](In in) { return with_its_value(in[0], w, targets); },
           {wanted(values({5, 3}))});
  list.add("of the weight alone", [=](In in) { return with_its_value(x, in[0], targets); },
           {wanted(values({6, 3}))});
});

TEST_CASE("linear_cross_entropy: gradients have the bits of linear and cross_entropy") {
  const int before = num_threads();
  const bool own_kernels = detail::kernel_in_use().products->any_tiles;
  // Rows: less than a piece, three pieces, 11 of which the last is shorter.
  for (const int64_t rows : {7, 1000, 4096}) {
    const Shape shape{rows, 12};
    set_num_threads(1);
    const std::vector<Array> whole = loss_and_gradients(shape, 4100, false);
    for (const int threads : {1, 2, 3}) {
      set_num_threads(threads);
      const std::vector<Array> pieces = loss_and_gradients(shape, 4100, true);
      for (size_t k = 0; k < whole.size(); ++k) {
        CAPTURE(k);
        check_near(pieces[k], whole[k]);
        // Whole, dx of few rows is computed in halves of the vocabulary.
        const bool same = k == 3 || (k == 2 && rows == 4096);
        if (own_kernels && same) check_same_bits(pieces[k], whole[k]);
      }
    }
  }
  set_num_threads(before);
}

TEST_CASE("linear_cross_entropy: the loss is 0 until the backward pass") {
  const Tensor x = wanted(Array::zeros({2, 3})), w = wanted(values({4, 3}));
  const Tensor y = linear_cross_entropy(x, w, ids({2}, {1, 0}));
  CHECK(y.item() == 0);
  y.backward();
  check_near(y, Array::full({}, 2 * std::log(real(4))));
  for (const Tensor& none : {linear_cross_entropy(x, w, ids({2}, {-100, -100})),
                             linear_cross_entropy(Array::zeros({0, 3}), w, ids({0}, {}))}) {
    none.backward();
    CHECK(none.item() == 0);
  }
  const char* const refused = "linear_cross_entropy: nothing requires a gradient";
  CHECK(error_of([&] {
          (void)linear_cross_entropy(x.detach(), w.detach(), ids({2}, {0, 0}));
        }) == refused);
  const NoGrad off;
  CHECK(error_of([&] { (void)linear_cross_entropy(x, w, ids({2}, {0, 0})); }) == refused);
}

TEST_CASE("linear_cross_entropy: the logits of a piece at a time") {
  constexpr int64_t rows = 2048, vocabulary = 8192, bytes = rows * vocabulary * sizeof(real);
  const auto peak_of = [&](bool in_pieces) {
    const DryRun dry;
    const Tensor x = wanted(Array::zeros({rows, 4})), w = wanted(Array::zeros({vocabulary, 4}));
    const Ids targets = Ids::zeros({rows});
    pool::reset_peak();
    const int64_t before = pool::stats().live_bytes;
    (in_pieces ? linear_cross_entropy(x, w, targets)
               : cross_entropy(linear(x, w, Tensor()), targets))
        .backward();
    return pool::stats().peak_bytes - before;
  };
  CHECK(peak_of(false) > bytes);
  CHECK(peak_of(true) < bytes / 4);
}

TEST_CASE("linear_cross_entropy: what is refused") {
  const Tensor x = wanted(Array::zeros({2, 3})), w = wanted(Array::zeros({4, 3}));
  CHECK(error_of([&] {
          (void)linear_cross_entropy(x, Array::zeros({4, 2}), ids({2}, {0, 0}));
        }) == "linear: expected x (..., in) and weight (out, in), got (2, 3) and (4, 2)");
  CHECK(error_of([&] {
          (void)linear_cross_entropy(x, w, ids({3}, {0, 0, 0}));
        }) == "cross_entropy: expected targets of shape (2,) for logits (2, 4), got (3,)");
  CHECK(error_of([&] {
          (void)linear_cross_entropy(x, w, ids({2}, {0, 4}));
        }).starts_with("cross_entropy: "));
}
