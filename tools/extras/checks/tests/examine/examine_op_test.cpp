// Incorrect operations, with the message of examine_op for each.
#include <algorithm>
#include <cmath>
#include <memory>

#include "autograd/op.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/log.h"
#include "tests/support/run_program.h"
#include "tests/support/wrong_backwards.h"
#include "tools/extras/checks/tests/examine/findings.h"
#include "tools/extras/checks/train/testing.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("examine: operations") {
  const auto wrong = [](const Differentiable& f, const std::vector<Shape>& shapes) {
    return all_messages(examine_op(f, shapes));
  };
  const std::vector<Shape> shapes{{3, 4}};
  check_op("product", [](const std::vector<Tensor>& in) { return in[0] * in[1]; }, {{3, 4}, {4}});
  if (is_float64) {
    expect(wrong([](const auto& in) { return half_square(in[0]); }, shapes), "gradients",
           "compare the backward with the equations");
  }
  expect(wrong([](const auto& in) { return log(in[0]); }, shapes), "finite", "y is not finite");
  expect(wrong([](const auto& in) { return in[0] * Tensor(static_cast<real>(num_threads())); },
               shapes),
         "threads", "y differs for 1 and 2 threads");
}

TEST_CASE("examine: one mistake of an operation is one message, its cause") {
  const auto messages = [](const Differentiable& f, const std::vector<Shape>& shapes) {
    return all_messages(examine_op(f, shapes));
  };
  const auto into_input = [](const std::vector<Tensor>& in) {
    in[0].value().mutable_data()[0] = 7;
    return in[0] * in[0];
  };
  const std::string written = messages(into_input, {{3, 4}});
  CHECK(written.starts_with("inputs: input 0 was written to: "));
  CHECK(std::count(written.begin(), written.end(), '\n') == 1);
  const auto one_of_two = [](const std::vector<Tensor>& in) {
    return in[0] * Tensor(in[1].value());
  };
  CHECK(messages(one_of_two, {{3, 4}, {4}}) ==
        "gradients that are missing: no gradient of input 1: the backward leaves it out, or "
        ".value() cut the graph\n");
}

TEST_CASE("examine: a backward that is wrong only far from 0; one factor everywhere" *
          doctest::skip(!is_float64)) {
  // y = x^2, with a derivative of slope(x).
  const auto with_slope = [](auto slope) {
    return [slope](const std::vector<Tensor>& in) {
      const Array x = in[0].value();
      return record("square", map(x, [](real v) { return v * v; }), {in[0]},
                    [x, slope](const Array& dy, Grads& grads) {
                      grads.emit(0, [g = dy.data(), x = x.data(), slope](int64_t i) {
                        return g[i] * slope(x[i]);
                      });
                    });
    };
  };
  const auto message = [&](auto slope) {
    return message_of("gradients", examine_op(with_slope(slope), {{3, 4}}));
  };
  CHECK(message([](real x) { return 2 * x; }) == "");
  const std::string far = message([](real x) { return std::abs(x) > real{2.5} ? real{0} : 2 * x; });
  CHECK_MESSAGE(contains(far, ": gradient "), far);
  CHECK_MESSAGE(contains(far, "relative error 1;"), far);
  const std::string end = "; compare the backward with the equations";
  CHECK(message([](real x) { return 4 * x; }).ends_with("; 2 times too large everywhere" + end));
  CHECK(message([](real x) { return x; }).ends_with("; 2 times too small everywhere" + end));
  CHECK(message([](real x) {
          return -2 * x;
        }).ends_with("; -1 times the difference everywhere" + end));
  const std::string other = message([](real x) { return 2 * x + 1; });
  CHECK(contains(other, "relative error "));
  CHECK(!contains(other, "everywhere"));
}

TEST_CASE("examine: a gradient that is wrong for many numbers only" * doctest::skip(!is_float64)) {
  // y = x^2, but the derivative of element 999 is 0 where there are more than 1,000.
  const auto square = [](const std::vector<Tensor>& in) {
    const Array x = in[0].value();
    return record("square", map(x, [](real v) { return v * v; }), {in[0]},
                  [x](const Array& dy, Grads& grads) {
                    grads.emit(0, [g = dy.data(), x](int64_t i) {
                      return i == 999 && x.size() > 1000 ? real{0} : 2 * x.data()[i] * g[i];
                    });
                  });
  };
  for (const std::vector<Shape>& shapes :
       {std::vector<Shape>{{3, 4}}, {{12}}, {{1, 2, 5}}, {{4, 4}}, {{1}}}) {
    const std::string found = message_of("gradients", examine_op(square, shapes));
    CHECK_MESSAGE(contains(found, "all elements moved at random: gradient "), found);
    CHECK(found.ends_with("; compare the backward with the equations"));
  }
  // An operation of three columns is tried with more rows, one of fixed size as it is.
  const auto columns = [&](const std::vector<Tensor>& in) {
    return square({in[0] * Tensor(Array::from({3}, {1, 2, 3}))});
  };
  CHECK(message_of("gradients", examine_op(columns, {{3, 3}})) == "");
  CHECK(contains(message_of("gradients", examine_op(columns, {{2, 3}})), "all elements moved"));
}

TEST_CASE("examine: results that differ from call to call are the only message") {
  int calls = 0;
  const auto counts = [&calls](const std::vector<Tensor>& in) {
    return in[0] * Tensor(static_cast<real>(++calls));
  };
  const std::string all = all_messages(examine_op(counts, {{3, 4}}));
  CHECK(all.starts_with("threads: y differs from call to call: "));
  CHECK(std::count(all.begin(), all.end(), '\n') == 1);
}

TEST_CASE("examine: a Tensor in a backward: an input, one computed from it, the result") {
  const auto twice = [](const Tensor& x, const auto& kept) {
    return record("twice", map(x.value(), [](real v) { return 2 * v; }), {x},
                  [kept](const Array& dy, Grads& grads) {
                    grads.emit(0, [g = dy.data()](int64_t i) { return 2 * g[i]; });
                  });
  };
  const auto found = [](const Differentiable& f) {
    return message_of("captures", examine_op(f, {{3, 4}}));
  };
  const std::string says =
      "a backward captures a Tensor, which keeps the graph behind it in memory";
  CHECK(found([&](const auto& in) { return twice(in[0], in[0].value()); }) == "");
  CHECK(found([&](const auto& in) { return twice(in[0] * in[0], in[0].value()) + in[0]; }) == "");
  CHECK(found([&](const auto& in) { return twice(in[0], in[0]); }).starts_with(says));
  CHECK(found([&](const auto& in) { return twice(in[0], in[0] * in[0]); }).starts_with(says));
  std::vector<std::shared_ptr<Tensor>> cycles;
  CHECK(found([&](const auto& in) {
          cycles.push_back(std::make_shared<Tensor>());
          return *cycles.back() = twice(in[0], cycles.back());
        }).starts_with(says));
  for (const auto& result : cycles) *result = Tensor();
}

TEST_CASE("examine: every wrong backward of the table is found in an operation" *
          doctest::skip(!is_float64)) {
  const auto message = [](const Differentiable& f) {
    return message_of("gradients", examine_op(f, {{2, 16, 32}}));
  };
  for (const BackwardMistake& c : wrong_backwards()) {
    CAPTURE(c.name);
    const std::string wrong = message(c.wrong);
    CHECK_MESSAGE(wrong.find(c.says) != std::string::npos, wrong);
    CHECK(wrong.ends_with("; compare the backward with the equations"));
    CHECK(message(c.right) == "");
  }
}
