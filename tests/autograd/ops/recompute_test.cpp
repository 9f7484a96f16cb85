#include "autograd/ops/recompute.h"

#include "autograd/ops/dropout.h"
#include "autograd/ops/linear.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/sum.h"
#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Two values of two vectors x (3, 4), c (4) and a matrix w (4, 4), with dropout: each is used more
// than once, so that gradients are sums.
std::vector<Tensor> drawn_block(const Tensor& x, const Tensor& c, const Tensor& w) {
  const Tensor h = dropout(linear(x, w, c), 0.5, true);
  return {dropout_add(x, softmax(linear(h, w, c)) * c, 0.5, true), sum(h * x)};
}

Tensor again(const Tensor& x, const std::function<Tensor()>& f) {
  return recompute({x}, [=] { return std::vector<Tensor>{f()}; })[0];
}

// Two such blocks, one on the other, kept or recomputed.
std::vector<Tensor> two_blocks(In in, bool recomputed) {
  std::vector<Tensor> losses;
  Tensor x = in[0] * in[0];
  for (int block = 0; block < 2; ++block) {
    const auto run = [x, c = in[1], w = in[2]] { return drawn_block(x, c, w); };
    const std::vector<Tensor> outputs = recomputed ? recompute({x, in[1]}, run) : run();
    x = outputs[0];
    losses.push_back(outputs[1]);
  }
  return {x * in[1], losses[0] * losses[1]};
}

const std::vector<Shape> shapes_of_blocks{{3, 4}, {4}, {4, 4}};

std::vector<Tensor> leaves_of_blocks() {
  std::vector<Tensor> leaves;
  for (const Shape& shape : shapes_of_blocks) leaves.push_back(wanted(values(shape, -1, 1)));
  return leaves;
}

}  // namespace

const GradCases recompute_cases("recompute", [](GradCaseList& list) {
  for (const DropoutStream stream : {DropoutStream::mcg31, DropoutStream::mt19937}) {
    list.add(
        text("two blocks, ", name_of(stream)),
        [=](In in) {
          manual_seed(5, Generators::separate, stream);
          const std::vector<Tensor> outputs = two_blocks(in, true);
          return outputs[0] + outputs[1];
        },
        leaves_of_blocks());
  }
  list.add("what is handed on", [](In in) { return again(in[0], [x = in[0]] { return x; }); },
           {wanted(values({3}))});
});

TEST_CASE("recompute: values, gradients and streams have the bits of a graph that is kept") {
  int compared = 0;
  for (const DropoutStream stream : {DropoutStream::mcg31, DropoutStream::mt19937}) {
    for (const Generators generators : {Generators::separate, Generators::single}) {
      std::vector<Array> kept;
      StreamsState drawn;
      for (const bool recomputed : {false, true}) {
        manual_seed(5, generators, stream);
        const std::vector<Tensor> leaves = leaves_of_blocks();
        const std::vector<Tensor> outputs = two_blocks(leaves, recomputed);
        const StreamsState after = streams().state();
        (outputs[0] + outputs[1]).backward(values({3, 4}, 1, 2));
        CHECK(streams().state() == after);
        std::vector<Array> results{outputs[0].value(), outputs[1].value()};
        for (const Tensor& leaf : leaves) results.push_back(leaf.grad());
        for (size_t k = 0; k < kept.size(); ++k) {
          check_same_bits(results[k], kept[k]);
          ++compared;
        }
        CHECK((!recomputed || after == drawn));
        kept = results;
        drawn = after;
      }
    }
  }
  CHECK(compared == 4 * 5);
}

TEST_CASE("recompute: f runs once forward and once backward, and saves nothing in between") {
  const int64_t nodes = live_nodes();
  int runs = 0;
  {
    const Tensor x = wanted(values({5000}));
    const auto f = [&] {
      ++runs;
      Tensor y = x;
      for (int i = 0; i < 10; ++i) y = y * y;
      return y;
    };
    const int64_t before = pool::stats().live_bytes;
    const Tensor kept = f();
    const int64_t of_kept = pool::stats().live_bytes - before;
    const Tensor y = again(x, f);
    CHECK(runs == 2);
    CHECK(pool::stats().live_bytes - before - of_kept < of_kept / 2);  // y and the streams
    y.backward(Array::full({5000}, 1));
    CHECK(runs == 3);
    kept.backward(Array::full({5000}, 1));
    CHECK(error_of([&] { y.backward(Array::full({5000}, 1)); }) ==
          "backward: the graph behind this recompute was already used by an earlier backward and "
          "is freed");
  }
  CHECK(live_nodes() == nodes);
}

TEST_CASE("recompute: inside of what is recomputed") {
  std::vector<Array> kept;
  for (const bool recomputed : {false, true}) {
    const Tensor x = wanted(values({7})), w = wanted(values({7}, 1, 2));
    const auto inner = [=](const Tensor& of) {
      const auto f = [=] { return of * w * of; };
      return recomputed ? again(of, f) : f();
    };
    const auto outer = [=] { return inner(inner(x)) * w; };
    (recomputed ? again(x, outer) : outer()).backward(Array::full({7}, 1));
    if (recomputed) {
      check_same_bits(x.grad(), kept[0]);
      check_same_bits(w.grad(), kept[1]);
    }
    kept = {x.grad(), w.grad()};
  }
}

TEST_CASE("recompute: outputs that the loss does not need, or that depend on nothing") {
  const Tensor x = wanted(values({3})), w = wanted(values({3}, 1, 2));
  const auto three = [&] {
    return recompute({Tensor(), x}, [=] {
      return std::vector<Tensor>{x * w, sum(w), Tensor(Array::full({}, 2))};
    });
  };
  sum(three()[0]).backward();
  check_same_bits(w.grad(), x.value());
  const std::vector<Tensor> outputs = three();
  (outputs[1] * outputs[2]).backward();
  check_near(w.grad(), map(x.value(), [](real v) { return v + 2; }));
  check_same_bits(x.grad(), w.value());
  const Tensor constant = again(x, [] { return Tensor(Array::full({3}, 1)); });
  CHECK_NOTHROW(constant.backward(Array::full({3}, 1)));
}

TEST_CASE("recompute: without a graph it is f, and what it refuses") {
  const Tensor x = wanted(values({3}));
  {
    const NoGrad off;
    CHECK(!again(x, [&] { return x * x; }).requires_grad());
  }
  CHECK(error_of([] { (void)recompute({}, [] { return std::vector<Tensor>(); }); }) ==
        "recompute: expected at least one input");
  const auto y = again(x, [&] { return x * x; });
  CHECK(error_of([&] {
          const NoGrad off;
          y.backward(Array::full({3}, 1));
        }) ==
        "backward of recompute: recompute: a backward pass under NoGrad, which f needs to run "
        "again with a graph");
  int runs = 0;
  const auto fewer =
      recompute({x}, [&] { return std::vector<Tensor>(runs++ == 0 ? 2 : 1, x * x); });
  CHECK(error_of([&] { fewer[0].backward(Array::full({3}, 1)); }) ==
        "backward of recompute: recompute: expected 2 outputs as in the forward pass, got 1");
  CHECK(!x.grad());
}

TEST_CASE("recompute: an error of the second run leaves no gradient") {
  const Tensor x = wanted(values({3}));
  int runs = 0;
  const Tensor y = again(x, [&] {
    require(runs++ == 0, "broken");
    return dropout(x, 0.5, true);
  });
  CHECK(error_of([&] { y.backward(Array::full({3}, 1)); }) == "broken");
  CHECK(!x.grad());
}
