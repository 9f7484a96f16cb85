// Numbers for tests, and comparisons that cannot pass by comparing nothing.
#pragma once

#include <doctest/doctest.h>

#include <bit>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "autograd/array/reduce.h"
#include "autograd/base/elementary.h"
#include "autograd/graph/tensor.h"
#include "tests/support/errors.h"

namespace heed::testing {

// Sizes next to the widths of vectors and blocks, where loops have remainders.
inline const std::vector<int64_t> odd_sizes = {1, 7, 8, 15, 16, 17, 31, 33, 127, 129};

inline constexpr real inf = std::numeric_limits<real>::infinity();
inline constexpr real not_a_number = std::numeric_limits<real>::quiet_NaN();

// How far a function of our own may be off, in units of the last place. CPUs without fused
// multiply-adds, before 2013, round a product and then a sum.
inline double most_ulp() {
  const volatile double above = 1 + std::numeric_limits<double>::epsilon();
  const double x = above;
  return multiply_add(x, x, -x * x) != 0 ? 2 : 2.5;
}

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

std::string spaced(const std::vector<std::string>& words);

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
int64_t check_near(const Array& got, const Array& want, double tolerance = rounding);

int64_t check_near(const Tensor& got, const Array& want, double tolerance = rounding);

void check_values(const Tensor& got, const Shape& shape, std::initializer_list<real> want,
                  double tolerance = rounding);

void check_same_bits(const Array& a, const Array& b);

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

// The value of f, then its gradients, for a cotangent whose elements differ.
std::vector<Array> value_and_gradients(const Function& f, const std::vector<Array>& inputs);

// Checks that two functions have the same values and gradients.
void check_twins(const Function& a, const Function& b, const std::vector<Array>& inputs,
                 double tolerance = rounding);

// Checks that values and gradients are the same bits for 1, 2 and 5 threads.
void check_threads(const Function& f, const std::vector<Array>& inputs);

// Checks op(x) against a function of one number, for odd sizes, a single number and no numbers.
void check_unary(const std::function<Tensor(const Tensor&)>& op,
                 const std::function<double(double)>& reference, double low = -2, double high = 2,
                 double tolerance = rounding);

}  // namespace heed::testing
