// Code that watches operations and backward passes.
#include "autograd/graph/graph_observer.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "autograd/op.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/sum.h"

using namespace heed;

namespace {

struct Log : GraphObserver {
  void made(const char* op, const Array& /*value*/, int64_t numbers) override {
    lines.push_back(text(op, " ", numbers));
  }
  void pass_begins(std::span<const NodeRef> nodes) override {
    lines.push_back(text("pass over ", nodes.size()));
  }
  void has_run(std::span<const NodeRef> nodes, size_t k, bool reached) override {
    lines.push_back(text(k, " ", nodes[k]->op(), reached ? "" : ", not reached"));
  }
  std::vector<std::string> lines;
};

// A value whose backward gives nothing to its input.
Tensor ignored(const Tensor& x) {
  return record("ignored", x.value(), {x}, [](const Array&, Grads&) {});
}

}  // namespace

TEST_CASE("graph observer: operations with their sizes, and nodes in the order in which they run") {
  const Tensor a = Tensor::parameter(Array::from({2}, {2, 3}));
  const Tensor b = Tensor::parameter(Array::from({2}, {5, 7}));
  Log log;
  sum(ignored(a * b) + a).backward();
  const std::vector<std::string> expected{"multiply 6", "ignored 4",   "add 6",
                                          "sum 3",      "pass over 6", "0 sum",
                                          "1 add",      "2 ignored",   "3 multiply, not reached"};
  CHECK(log.lines == expected);
}

TEST_CASE("graph observer: several end in any order, and see nothing more") {
  const Tensor a = Tensor::parameter(Array::from({2}, {2, 3}));
  std::optional<Log> first(std::in_place), second(std::in_place), third(std::in_place);
  static_cast<void>(a + a);
  second.reset();
  static_cast<void>(a + a);
  CHECK(first->lines.size() == 2);
  CHECK(third->lines.size() == 2);
  third.reset();
  static_cast<void>(a + a);
  CHECK(first->lines.size() == 3);
  first.reset();
  CHECK(!GraphObserver::exists());
}
