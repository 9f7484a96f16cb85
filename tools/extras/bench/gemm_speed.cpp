#include "tools/extras/bench/gemm_speed.h"

#include <vector>

#include "autograd/array/array.h"
#include "autograd/kernels/cut.h"
#include "autograd/kernels/gemm.h"
#include "autograd/kernels/openblas.h"
#include "autograd/random/fills.h"
#include "autograd/random/generator.h"
#include "autograd/threads/parallel.h"
#include "tools/extras/bench/median.h"

namespace heed::cli {

namespace {

double median_after_warm_up(const std::vector<double>& values) {
  return median({values.begin() + 2, values.end()});
}

// C = A B, all of it by OpenBLAS, and not counted.
void multiply_by_openblas(ConstMatrix a, ConstMatrix b, Matrix c) {
  const detail::Product p{a, b, c};
  const auto tiles = detail::Tiles::by_shape(p);
  parallel_for(tiles.count(), 1, [&](int64_t begin, int64_t) {
    detail::openblas_products.multiply(part_of(p, tiles.block(begin)));
  });
}

}  // namespace

GemmSpeed gemm_speed() {
  const int64_t n = 1024;
  Array a = Array::zeros({n, n}), b = Array::zeros({n, n}), c = Array::zeros({n, n});
  Generator generator(1);
  fill_uniform(generator, {a.mutable_data(), static_cast<size_t>(n * n)}, -1, 1);
  fill_uniform(generator, {b.mutable_data(), static_cast<size_t>(n * n)}, -1, 1);
  const Matrix to = as_writable_matrix(c);
  std::vector<double> heed, openblas;
  double passed = 0;
  while (heed.size() < 5 || passed < 0.5) {
    heed.push_back(seconds_of([&] { multiply(as_matrix(a), as_matrix(b), into(to)); }));
    openblas.push_back(seconds_of([&] { multiply_by_openblas(as_matrix(a), as_matrix(b), to); }));
    passed += heed.back() + openblas.back();
  }
  const double giga = 2e-9 * static_cast<double>(n * n * n);
  return {giga / median_after_warm_up(heed), giga / median_after_warm_up(openblas)};
}

}  // namespace heed::cli
