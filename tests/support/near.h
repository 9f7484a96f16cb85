// Numbers for tests, and comparisons that cannot pass by comparing nothing.
#pragma once

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "autograd/array/reduce.h"
#include "autograd/graph/tensor.h"
#include "tests/support/errors.h"

namespace heed::testing {

// Sizes next to the widths of vectors and blocks, where loops have remainders.
inline const std::vector<int64_t> odd_sizes = {1, 7, 8, 15, 16, 17, 31, 33, 127, 129};

inline constexpr real inf = std::numeric_limits<real>::infinity();
inline constexpr real not_a_number = std::numeric_limits<real>::quiet_NaN();

// Quiet NaNs as files may hold them: other bits than the CPU's own, and CUDA's.
inline std::vector<real> nans_with_payloads() {
  using Bits = std::conditional_t<is_float64, uint64_t, uint32_t>;
  const Bits own = std::bit_cast<Bits>(not_a_number), sign = Bits{1} << (sizeof(Bits) * 8 - 1);
  std::vector<real> nans{not_a_number, -not_a_number};
  for (const Bits payload : {Bits{1}, Bits{2}, Bits{0x80}, Bits{0x100}, Bits{0x1ff}, own - 1}) {
    nans.push_back(std::bit_cast<real>(own | payload));
    nans.push_back(std::bit_cast<real>(own | payload | sign));
  }
  return nans;
}

inline constexpr double rounding = is_float64 ? 1e-12 : 5e-6;

inline std::string spaced(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

// A mask with 1 at every third element and 0 elsewhere.
inline Mask every_third(const Shape& shape) {
  Mask mask = Mask::zeros(shape);
  for (int64_t i = 0; i < mask.size(); i += 3) mask.mutable_data()[i] = 1;
  return mask;
}

// Uniform in [low, high), the same in both precisions up to rounding.
inline Array values(const Shape& shape, double low = -2, double high = 2, uint64_t seed = 1) {
  std::mt19937_64 words(seed + static_cast<uint64_t>(shape.size()));
  Array a = Array::uninitialised(shape);
  for (int64_t i = 0; i < a.size(); ++i) {
    const double u = static_cast<double>(words() >> 11) * 0x1p-53;
    a.mutable_data()[i] = static_cast<real>(low + (high - low) * u);
  }
  return a;
}

// The same, but at least `gap` away from 0, for functions with a kink there.
inline Array values_off_zero(const Shape& shape, double gap = 0.1, uint64_t seed = 1) {
  Array a = values(shape, -2, 2, seed);
  for (int64_t i = 0; i < a.size(); ++i) {
    real& v = a.mutable_data()[i];
    v += static_cast<real>(v < 0 ? -gap : gap);
  }
  return a;
}

inline Tensor wanted(Array a) { return Tensor::parameter(std::move(a)); }

inline Ids ids(const Shape& shape, std::initializer_list<int32_t> numbers) {
  return Ids::from(shape, numbers);
}

inline Mask mask_of(const Shape& shape, std::initializer_list<uint8_t> numbers) {
  return Mask::from(shape, numbers);
}

// Checks that |got - want| <= tolerance max(1, |want|), and that infinities and NaN are the same.
// Returns the number of elements compared.
inline int64_t check_near(const Array& got, const Array& want, double tolerance = rounding) {
  REQUIRE(got.shape() == want.shape());
  const std::string wrong = difference(got, want, tolerance);
  CHECK_MESSAGE(wrong.empty(), wrong);
  return want.size();
}

inline int64_t check_near(const Tensor& got, const Array& want, double tolerance = rounding) {
  return check_near(got.value(), want, tolerance);
}

inline void check_values(const Tensor& got, const Shape& shape, std::initializer_list<real> want,
                         double tolerance = rounding) {
  CHECK(check_near(got.value(), Array::from(shape, want), tolerance) ==
        static_cast<int64_t>(want.size()));
}

inline void check_same_bits(const Array& a, const Array& b) {
  REQUIRE(a.size() > 0);
  const std::string wrong = difference(a, b);
  CHECK_MESSAGE(wrong.empty(), wrong);
}

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

// The value of f, then its gradients, for a cotangent whose elements differ.
inline std::vector<Array> value_and_gradients(const Function& f, const std::vector<Array>& inputs) {
  std::vector<Tensor> leaves;
  for (const Array& input : inputs) leaves.push_back(Tensor::parameter(input));
  const Tensor y = f(leaves);
  std::vector<Array> results = {y.value().clone()};
  y.backward(values(y.shape(), 0.5, 1.5, 7));
  for (const Tensor& leaf : leaves) results.push_back(leaf.grad());
  return results;
}

// Checks that two functions have the same values and gradients.
inline void check_twins(const Function& a, const Function& b, const std::vector<Array>& inputs,
                        double tolerance = rounding) {
  const std::vector<Array> of_a = value_and_gradients(a, inputs);
  const std::vector<Array> of_b = value_and_gradients(b, inputs);
  int64_t compared = 0;
  for (size_t k = 0; k < of_a.size(); ++k) {
    CAPTURE(k);
    REQUIRE(of_a[k]);
    REQUIRE(of_b[k]);
    compared += check_near(of_a[k], of_b[k], tolerance);
  }
  CHECK(compared > 0);
}

// Checks that values and gradients are the same bits for 1, 2 and 5 threads.
inline void check_threads(const Function& f, const std::vector<Array>& inputs) {
  const int before = num_threads();
  set_num_threads(1);
  const std::vector<Array> alone = value_and_gradients(f, inputs);
  for (const int threads : {2, 5}) {
    set_num_threads(threads);
    const std::vector<Array> shared = value_and_gradients(f, inputs);
    for (size_t k = 0; k < alone.size(); ++k) {
      check_same_bits(alone[k], shared[k]);
    }
  }
  set_num_threads(before);
}

// Checks op(x) against a function of one number, for odd sizes, a single number and no numbers.
inline void check_unary(const std::function<Tensor(const Tensor&)>& op,
                        const std::function<double(double)>& reference, double low = -2,
                        double high = 2, double tolerance = rounding) {
  std::vector<Shape> shapes = {Shape{}, Shape{0}, Shape{2, 0, 3}, Shape{3, 5}, Shape{200, 257}};
  for (const int64_t n : odd_sizes) shapes.push_back({n});
  int64_t compared = 0;
  for (const Shape& shape : shapes) {
    const Array x = values(shape, low, high);
    Array want = Array::uninitialised(shape);
    for (int64_t i = 0; i < x.size(); ++i) {
      want.mutable_data()[i] = static_cast<real>(reference(static_cast<double>(x.data()[i])));
    }
    compared += check_near(op(x), want, tolerance);
  }
  CHECK(compared > 50000);
}

}  // namespace heed::testing
