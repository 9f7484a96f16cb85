// Changing later tokens changes no bit of earlier outputs in attention layers that say causal. In
// the others it must, which shows that the test can fail. A smaller test covers every registered
// layer: tools/extras/checks/tests/examine/examine_test.cpp.
#include "autograd/random/streams.h"
#include "layers/module/registry.h"
#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

constexpr int64_t sequences = 2;

// Returns a copy of the input with every token after `last` changed.
Input with_other_future(const Input& in, int64_t last, int64_t tokens) {
  Input other = in;
  if (in.ids) {
    other.ids = in.ids.clone();
    for (int64_t i = 0; i < other.ids.size(); ++i) {
      int32_t& id = other.ids.mutable_data()[i];
      if (i % tokens > last) id = (id + 3) % 11;
    }
  } else {
    Array x = in.x.value().clone();
    const int64_t width = x.dim(2);
    for (int64_t i = 0; i < x.size(); ++i) {
      if (i / width % tokens > last) x.mutable_data()[i] *= real(-1.75);
    }
    other.x = Tensor(x);
  }
  return other;
}

// True if rows 0 to `last` of every item have the same bits.
bool same_past(const Array& a, const Array& b, int64_t last) {
  const int64_t width = a.dim(2), item = a.dim(1) * width;
  for (int64_t i = 0; i < a.dim(0); ++i) {
    if (std::memcmp(a.data() + i * item, b.data() + i * item,
                    sizeof(real) * static_cast<size_t>((last + 1) * width)) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("causality: the future changes no bit of the past, where the layer says causal") {
  int64_t causal = 0, others = 0;
  for (const int64_t tokens : {9, 150}) {  // within one tile of attention, and across several
    for (const LayerCase& c : attending_layers({.context_length = 150, .dropout = 0.2})) {
      CAPTURE(c.name);
      const auto layer = layer_of(c.yaml);
      const Input in = input_for(*layer, {sequences, tokens});
      for (const bool composed : {false, true}) {
        const Composed form(composed);
        const NoGrad off;
        const auto forward = [&](const Input& input) {
          streams().dropout().manual_seed(5);
          return (*layer)(input).value();
        };
        const Array y = forward(in);
        for (const int64_t last : {int64_t{0}, tokens / 2, tokens - 2}) {
          CAPTURE(last);
          const Array other = forward(with_other_future(in, last, tokens));
          CHECK(same_past(y, other, last) == layer->signature().causal);
          CHECK_FALSE(same_past(y, other, tokens - 1));
          (layer->signature().causal ? causal : others) += 1;
        }
      }
    }
  }
  CHECK(causal == 2 * 2 * 3 * 20);
  CHECK(others == 2 * 2 * 3 * 13);
}

TEST_CASE("causality: no gradient flows into the future") {
  int64_t checked = 0, others = 0;
  constexpr int64_t tokens = 9;
  for (const LayerCase& c : attending_layers({.dropout = 0.2})) {
    const auto layer = layer_of(c.yaml);
    if (layer->signature().ids) continue;
    CAPTURE(c.name);
    const Input in = input_for(*layer, {sequences, tokens});
    const Array y = run(*layer, in).at("y");
    for (const int64_t t : {0, 4, 7}) {
      Array dy = Array::zeros(y.shape());
      std::fill_n(dy.mutable_data() + t * y.dim(2), y.dim(2), real{1});  // of the first item
      const Array dx = run(*layer, in, dy).at("x");
      const auto future = dx.span().subspan((t + 1) * 12, (tokens - t - 1) * 12);
      const bool none = std::all_of(future.begin(), future.end(), [](real v) { return v == 0; });
      CHECK(none == layer->signature().causal);
      (layer->signature().causal ? checked : others) += 1;
    }
  }
  CHECK(checked == 3 * 12);
  CHECK(others == 3 * 9);
}
