#include "layers/extras/recurrent/scan/wkv.h"

#include "autograd/ops/slice.h"
#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

namespace {

// keys, values, time_decay, time_first
std::vector<Array> wkv_inputs(int64_t batch, int64_t tokens, int64_t width, double most = 2) {
  const Shape shape{batch, tokens, width};
  return {values(shape, -most, most, 1), values(shape, -2, 2, 2), values({width}, -5, 1, 3),
          values({width}, -2, 1, 4)};
}

Tensor wkv_of(In in) { return wkv(in[0], in[1], in[2], in[3]); }

bool finite(const Array& x) {
  return std::all_of(x.data(), x.data() + x.size(), [](real v) { return std::isfinite(v); });
}

}  // namespace

const GradCases wkv_cases("wkv", [](GradCaseList& list) {
  for (const Shape& s : {Shape{1, 1, 1}, Shape{2, 3, 4}, Shape{1, 9, 17}, Shape{3, 5, 2}}) {
    std::vector<Tensor> all;
    for (const Array& a : wkv_inputs(s[0], s[1], s[2])) all.push_back(wanted(a));
    list.add(text(s), wkv_of, all);
  }
});

TEST_CASE("wkv: values by hand") {
  // w = -1, u = 1, k = 0: weights 1 and e for the token before and this one, then e^-1, 1, e.
  const real e = std::exp(real(1));
  const Tensor zero = Array::zeros({1, 3, 1}), v = Array::from({1, 3, 1}, {2, 4, 7});
  check_values(wkv(zero, v, Array::from({1}, {0}), Array::from({1}, {1})), {1, 3, 1},
               {2, (2 + 4 * e) / (1 + e), (2 / e + 4 + 7 * e) / (1 / e + 1 + e)});
}

TEST_CASE("wkv: after earlier tokens, the same bits as all at once") {
  const std::vector<Array> in = wkv_inputs(2, 9, 70);
  const Array all = wkv(in[0], in[1], in[2], in[3]).value();
  for (const int64_t middle : {1, 4, 8}) {
    Array state;
    for (const auto& [begin, end] :
         {std::pair{int64_t{0}, middle}, std::pair{middle, int64_t{9}}}) {
      const auto part = [from = begin, to = end](const Array& x) {
        return slice(x, 1, from, to).value();
      };
      check_same_bits(wkv(part(in[0]), part(in[1]), in[2], in[3], &state).value(), part(all));
    }
    CHECK(state.shape() == Shape{2, 3, 70});
  }
}

TEST_CASE("wkv: keys of any size give finite numbers") {
  for (const real size : {real(100), real(-100), real(1e4), real(-1e4)}) {
    std::vector<Array> in = wkv_inputs(1, 12, 3);
    real* const k = in[0].mutable_data();
    for (int64_t i = 0; i < in[0].size(); i += 2) k[i] = i % 3 == 0 ? size : -size;
    std::fill_n(k + 12, 12, size);
    for (const real decay : {real(-30), real(0), real(100)}) {
      in[2].mutable_data()[0] = decay;
      const std::vector<Tensor> leaves{wanted(in[0]), wanted(in[1]), wanted(in[2]), wanted(in[3])};
      const Tensor y = wkv_of(leaves);
      CHECK(finite(y.value()));
      y.backward(values(y.shape(), 0.5, 1.5, 7));
      for (const Tensor& leaf : leaves) CHECK(finite(leaf.grad()));
    }
  }
  // A key far above the others takes all the weight, until a decay of e^5 a token has outrun it.
  const Tensor k = Array::from({1, 4, 1}, {100, 0, 0, 0});
  const Tensor v = Array::from({1, 4, 1}, {1, 2, 3, 4});
  check_values(wkv(k, v, Array::from({1}, {5}), Array::from({1}, {0})), {1, 4, 1},
               {1, 1, 2.5, 3.5});
}

TEST_CASE("wkv: the same bits for any number of threads") {
  check_threads(wkv_of, wkv_inputs(3, 40, 200));
  check_threads(wkv_of, wkv_inputs(1, 300, 65));
}

TEST_CASE("wkv: a batch of none; shapes that do not fit are refused") {
  const Tensor d = Array::zeros({3}), none = Array::zeros({0, 4, 3});
  CHECK(wkv(none, none, d, d).shape() == Shape{0, 4, 3});
  const Tensor k = Array::zeros({2, 4, 3});
  CHECK(error_of([&] { (void)wkv(k, k, d, Array::zeros({4})); }) ==
        "wkv: expected keys and values (B, T, d), time_decay and time_first (d), got (2, 4, 3), "
        "(2, 4, 3), (3,) and (4,)");
  Array state = Array::zeros({2, 3, 4});
  CHECK(error_of([&] { (void)wkv(k, k, d, d, &state); }) ==
        "wkv: expected a state (2, 3, 3), got (2, 3, 4)");
}
