// The current speed of this machine, printed next to every timing: fused multiply-adds in
// registers, matrix products, and memory bandwidth, on all threads.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "autograd/kernels/blas_info.h"
#include "autograd/threads/parallel.h"
#include "tools/extras/bench/gemm_speed.h"
#include "tools/extras/bench/programs/timing.h"

namespace {

using namespace heed;

constexpr int64_t tasks = 64;

#if defined(__AVX512F__)
constexpr int lanes = 64 / sizeof(real);
#else
constexpr int lanes = 32 / sizeof(real);
#endif
typedef real Vector __attribute__((vector_size(lanes * sizeof(real))));

// Twelve independent chains hide the latency of each. 2 * 12 * lanes * repeats operations in all.
constexpr int chains = 12;
real multiply_add(int64_t repeats, real seed) {
  Vector sums[chains];
  for (int c = 0; c < chains; ++c) {
    sums[c] = Vector{} + seed;
  }
  const Vector factor = Vector{} + static_cast<real>(0.999), addend = Vector{} + seed;
  for (int64_t i = 0; i < repeats; ++i) {
    for (int c = 0; c < chains; ++c) {
      sums[c] = sums[c] * factor + addend;
    }
  }
  Vector total{};
  for (const Vector& sum : sums) {
    total += sum;
  }
  return total[0];
}

double fma_gflops() {
  constexpr int64_t repeats = 100000;
  std::vector<real> results(tasks);
  const double ms = bench::median_ms(7, [&] {
    parallel_for(tasks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        results[static_cast<size_t>(i)] = multiply_add(repeats, static_cast<real>(i + 1));
      }
    });
  });
  return 2.0 * chains * lanes * static_cast<double>(repeats * tasks) / ms / 1e6;
}

// a = b + s c (STREAM triad) over arrays far larger than the caches; counts bytes read and written.
double bandwidth() {
  constexpr int64_t size = 32 * 1024 * 1024;
  const Array b = Array::full({size}, 1), c = Array::full({size}, 2);
  Array a = Array::zeros({size});
  const double ms = bench::median_ms(7, [&] {
    real* out = a.mutable_data();
    const real *x = b.data(), *y = c.data();
    parallel_for(size, size / tasks, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        out[i] = x[i] + static_cast<real>(0.5) * y[i];
      }
    });
  });
  return 3.0 * size * sizeof(real) / ms / 1e6;
}

}  // namespace

int main() {
  const cli::GemmSpeed speed = cli::gemm_speed();
  const nlohmann::json result = {{"fma_gflops", fma_gflops()},   {"sgemm_gflops", speed.openblas},
                                 {"product_gflops", speed.heed}, {"bandwidth_gb_s", bandwidth()},
                                 {"threads", num_threads()},     {"openblas", blas_info().kernel}};
  std::printf("%s\n", result.dump().c_str());
  return 0;
}
