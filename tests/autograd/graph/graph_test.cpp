#include "autograd/graph/graph.h"

#include <pthread.h>

#include <thread>

#include "autograd/ops/arithmetic.h"
#include "autograd/ops/exp.h"
#include "autograd/ops/reshape.h"
#include "autograd/ops/sum.h"
#include "tests/support/near.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Runs f on a thread with a stack of 256 KiB.
void on_a_small_stack(void (*f)()) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  REQUIRE(pthread_attr_setstacksize(&attributes, 256 * 1024) == 0);
  pthread_t thread;
  const auto start = [](void* function) -> void* {
    reinterpret_cast<void (*)()>(function)();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, start, reinterpret_cast<void*>(f)) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

real chain_gradient = 0;
int64_t chain_nodes = 0;

void long_chain() {
  const Tensor x = wanted(Array::full({}, 2));
  Tensor y = x;
  for (int i = 0; i < 1000000; ++i) y = y + x;
  chain_nodes = live_nodes();
  y.backward();
  chain_gradient = x.grad().data()[0];
}

void long_chain_dropped() {
  Tensor y = wanted(Array::full({}, 2));
  for (int i = 0; i < 1000000; ++i) y = -y;
  chain_nodes = live_nodes();
}

// Checks that f leaves no nodes and no memory behind.
template <class F>
void check_nothing_left(F f) {
  const int64_t nodes = live_nodes(), bytes = pool::stats().live_bytes;
  f();
  CHECK(live_nodes() == nodes);
  CHECK(pool::stats().live_bytes == bytes);
}

}  // namespace

TEST_CASE("graph: a diamond") {
  const Tensor x = wanted(Array::from({2}, {3, 4}));
  const Tensor a = x * 2, b = a * a, c = a + 1, y = b * c;  // y = 4 x^2 (2 x + 1)
  y.backward(Array::from({2}, {1, 10}));
  check_near(x.grad(), Array::from({2}, {24 * 9 + 8 * 3, 10 * (24 * 16 + 8 * 4)}));
}

TEST_CASE("graph: a tensor used twice") {
  const Tensor x = wanted(Array::from({2}, {3, 4}));
  (x * x).backward(Array::from({2}, {1, 1}));
  check_near(x.grad(), Array::from({2}, {6, 8}));
  x.node()->gradient = Array();
  (x + x).backward(Array::from({2}, {1, 5}));
  check_near(x.grad(), Array::from({2}, {2, 10}));
}

TEST_CASE("graph: gradients are stored first and added afterwards") {
  Tensor x = wanted(Array::from({2}, {3, 4}));
  CHECK(!x.grad());
  (x * 2).backward(Array::from({2}, {1, 1}));
  check_near(x.grad(), Array::from({2}, {2, 2}));
  (x * 3).backward(Array::from({2}, {1, 1}));
  check_near(x.grad(), Array::from({2}, {5, 5}));
  x.zero_grad();
  CHECK(!x.grad());
}

TEST_CASE("graph: gradients that share a buffer stay apart") {
  const Tensor x = wanted(Array::from({2}, {1, 2})), y = wanted(Array::from({2}, {3, 4}));
  const Array dy = Array::from({2}, {1, 1});
  (x + y).backward(dy);
  (x * 4).backward(Array::from({2}, {1, 1}));
  check_near(x.grad(), Array::from({2}, {5, 5}));
  check_near(y.grad(), Array::from({2}, {1, 1}));
  check_near(dy, Array::from({2}, {1, 1}));
}

TEST_CASE("graph: a second backward throws") {
  const Tensor x = wanted(Array::from({}, {3}));
  const Tensor middle = exp(x), y = middle * 2, z = middle * 3;
  y.backward();
  CHECK_THROWS_WITH_AS(y.backward(),
                       "backward: the graph behind this multiply was already used by an earlier "
                       "backward and is freed",
                       GraphError);
  CHECK_THROWS_WITH_AS(
      z.backward(),
      "backward: the graph behind this exp was already used by an earlier backward and is freed",
      GraphError);
}

TEST_CASE("graph: nothing is left of it") {
  check_nothing_left([] {
    const Tensor x = wanted(values({33})), w = wanted(values({33}));
    sum(exp(x * w) + x).backward();
  });
  check_nothing_left([] {  // never run
    const Tensor x = wanted(values({33}));
    const Tensor y = sum(exp(x * x));
    CHECK(y.size() == 1);
  });
  check_nothing_left([] {  // saved values are released by the backward, though y still exists
    const Tensor x = wanted(Array::from({1000}, std::vector<real>(1000, 1)));
    const Tensor y = sum(exp(x) * exp(x));
    const int64_t before = pool::stats().live_bytes;
    y.backward();
    CHECK(pool::stats().live_bytes < before);
    CHECK(live_nodes() <= 3);
  });
}

TEST_CASE("graph: a chain of 1,000,000 nodes under a stack of 256 KiB") {
  check_nothing_left([] {
    on_a_small_stack(long_chain);
    CHECK(chain_nodes >= 1000000);
    CHECK(chain_gradient == 1000001);
  });
  check_nothing_left([] {
    chain_nodes = 0;
    on_a_small_stack(long_chain_dropped);
    CHECK(chain_nodes >= 1000000);
  });
}

TEST_CASE("graph: a saved value that was changed is noticed") {
  Tensor x = wanted(Array::from({2}, {1, 2}));
  const Tensor y = sum(x * x);
  {
    const NoGrad off;
    x.mutable_value()[0] = 5;
  }
  CHECK_THROWS_WITH_AS(y.backward(),
                       "backward of multiply: a saved value of shape (2,) was changed after it was "
                       "used: version 0 was saved, the value is now at version 1",
                       GraphError);
}

TEST_CASE("graph: a value that is not saved may change") {
  Tensor x = wanted(Array::from({2}, {1, 2}));
  const Tensor y = sum(x + x);
  {
    const NoGrad off;
    x.mutable_value()[0] = 5;
  }
  y.backward();
  check_near(x.grad(), Array::from({2}, {2, 2}));
}

TEST_CASE("graph: no graph under NoGrad") {
  const Tensor x = wanted(values({3}));
  const int64_t nodes = live_nodes();
  {
    const NoGrad off;
    CHECK(!NoGrad::recording());
    const Tensor y = x * x;
    CHECK(!y.requires_grad());
    { const NoGrad again; }
    CHECK(!NoGrad::recording());
  }
  CHECK(NoGrad::recording());
  CHECK(live_nodes() == nodes);
  CHECK((x * x).requires_grad());
}

TEST_CASE("graph: an op without a backward") {
  const auto floored = [](const Tensor& x) {
    return record("floor", map(x.value(), [](real v) { return std::floor(v); }), {x}, NoBackward{});
  };
  check_values(floored(Array::from({2}, {1.5, -0.5})), {2}, {1, -1});
  CHECK_THROWS_WITH_AS(
      floored(wanted(values({2}))),
      "floor: has no backward, but an input requires a gradient; detach() it or run "
      "under NoGrad",
      GraphError);
  const NoGrad off;
  CHECK(!floored(wanted(values({2}))).requires_grad());
}

TEST_CASE("graph: a backward that throws leaves nothing behind") {
  check_nothing_left([] {
    const Tensor x = wanted(values({2}));
    const Tensor y = record("broken", values({}), {x},
                            [](const Array&, Grads&) { fail<GraphError>("on purpose"); });
    CHECK_THROWS_WITH_AS(y.backward(), "backward of broken: on purpose", GraphError);
  });
}

// The graph behind `bad` shares h with that of `good`, and its backward fails after h has got a
// gradient.
TEST_CASE("graph: a backward that failed leaves nothing for the next one") {
  Tensor w = wanted(Array::from({2}, {1, 2})), p = wanted(Array::from({2}, {3, 4}));
  const Tensor h = w * 3, bad = sum(h * p + h), good = sum(h * 1), other = sum(w * 3);
  {
    const NoGrad off;
    p.mutable_value()[0] = 5;
  }
  CHECK_THROWS_WITH_AS(bad.backward(), doctest::Contains("was changed after it was used"),
                       GraphError);
  CHECK(!h.node()->gradient);
  for (const Tensor& again : {bad, good}) {
    CHECK_THROWS_WITH_AS(again.backward(), doctest::Contains("was already used"), GraphError);
  }
  w.zero_grad();
  other.backward();
  check_near(w.grad(), Array::from({2}, {3, 3}));
}

TEST_CASE("graph: a leaf that is the root adds up its gradients") {
  Tensor x = wanted(Array::from({}, {3}));
  x.backward();
  x.backward();
  CHECK(x.grad().data()[0] == 2);
}

TEST_CASE("graph: a leaf shares its gradient with no other array") {
  Tensor p = wanted(Array::from({2}, {1, 2})), q = wanted(Array::from({2}, {1, 2}));
  Array cotangent = Array::full({2}, 1);
  reshape(p, {2}).backward(cotangent);
  cotangent.mutable_data()[0] = 10;
  check_near(p.grad(), Array::full({2}, 1));
  p.zero_grad();
  (p + q).backward(Array::full({2}, 1));
  CHECK(p.grad().data() != q.grad().data());
  Array scaled = p.grad();  // in place, as an optimizer of one's own may do
  scaled.mutable_data()[0] = 7;
  check_near(p.grad(), Array::from({2}, {7, 1}));
  check_near(q.grad(), Array::full({2}, 1));
  (p * 2).backward(Array::full({2}, 1));  // on top of what was changed
  check_near(p.grad(), Array::from({2}, {9, 3}));
  check_near(scaled, Array::from({2}, {7, 1}));
  Array given = Array::full({2}, 4);
  p.set_grad(given);
  given.mutable_data()[1] = 5;
  check_near(p.grad(), Array::full({2}, 4));
}

TEST_CASE("graph: a second thread may run a backward during the first one's") {
  const Tensor x = wanted(values({3})), y = wanted(values({3})), mine = sum(y * 2);
  const Tensor outer = record("outer", Array::full({}, 1), {x}, [&](const Array&, Grads& grads) {
    std::thread([&] { mine.backward(); }).join();
    grads.add(0, Array::full({3}, 1));
  });
  outer.backward();
  check_near(x.grad(), Array::full({3}, 1));
  check_near(y.grad(), Array::full({3}, 2));
}

TEST_CASE("graph: a gradient for an input that requires none is refused") {
  const Array one = Array::full({3}, 1);
  const auto message_of = [&](size_t k, bool by_target) {
    const Tensor x = wanted(values({3}));
    const Tensor y =
        record("mine", one.clone(), {x, Tensor(one)}, [=](const Array& dy, Grads& grads) {
          CHECK(grads.needs(0));
          CHECK(!grads.needs(k));
          grads.add(0, dy);
          by_target ? grads.emit(k, [](int64_t) { return real{1}; }) : grads.add(k, dy);
        });
    return error_of([&] { sum(y).backward(); });
  };
  for (const size_t k : {size_t{1}, size_t{2}}) {  // a constant; no input at all
    for (const bool by_target : {false, true}) {
      CHECK(message_of(k, by_target) ==
            text("backward of mine: expected gradients for inputs that require one, got one for ",
                 "input ", k, "; add it only if grads.needs(", k, ")"));
    }
  }
}
