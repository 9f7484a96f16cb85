// A program compiled with -fvisibility=hidden, as many projects do. Prints the switches that the
// program and the library do not share; modes_test.cpp starts it.
#include <cstdio>

#include "autograd/graph/graph_observer.h"
#include "autograd/graph/layer_scope.h"
#include "autograd/ops/arithmetic.h"
#include "layers/module/anomaly.h"
#include "layers/module/observers.h"
#include "layers/module/registry.h"

namespace {

using namespace heed;

class Count final : public ForwardObserver {
 public:
  void after_forward(const Module&, const Input&, const Tensor&) override { ++calls; }
  int calls = 0;
};

void expect(bool shared, const char* what) {
  if (!shared) {
    std::printf("%s\n", what);
  }
}

template <class F>
bool diverges(F&& f) {
  try {
    f();
  } catch (const DivergedError&) {
    return true;
  }
  return false;
}

// What the program sets and the library reads.
void check_library(Module& attention) {
  const Tensor x(Array::full({3, 4}, 1));
  {
    const NoGrad off;
    expect(!attention(x).requires_grad(), "NoGrad");
  }
  expect(attention(x).requires_grad(), "NoGrad");
  {
    const AttentionRecorder recorder;
    attention(x);
    expect(recorder.recorded.size() == 1, "AttentionRecorder");
  }
  {
    const Count observer;
    attention(x);
    expect(observer.calls > 0, "ForwardObserver");
  }
  {
    const LayerScope scope("mine");
    const Tensor w = Tensor::parameter(Array::full({}, 1));
    expect((w * w).node()->layer_path() == std::string("mine"), "LayerScope");
  }
  set_anomaly_mode(true);
  const Tensor infinite(Array::full({3, 4}, std::numeric_limits<real>::infinity()));
  expect(diverges([&] { attention(infinite); }), "anomaly mode");
  set_anomaly_mode(false);
  const auto nodes_of = [&](bool on) {
    set_fused(on);
    const int64_t before = live_nodes();
    const Tensor y = attention(x);
    return live_nodes() - before;
  };
  expect(nodes_of(true) < nodes_of(false), "set_fused");
  set_fused(true);
}

}  // namespace

int main() {
  const auto attention = make_layer(
      "multi_head_attention",
      ConfigNode::map({{"d_in", 4}, {"d_out", 4}, {"context_length", 3}, {"num_heads", 2}}));
  check_library(*attention);
  // What the library sets and the program reads.
  {
    const DryRun dry;
    expect(dry_run(), "dry runs");
  }
  struct Count : GraphObserver {
    void made(const char*, const Array&, int64_t) override { ++operations; }
    int operations = 0;
  } count;
  (*attention)(Tensor(Array::full({1, 2, 4}, 1)));
  expect(count.operations > 1, "observers of the graph");
}
