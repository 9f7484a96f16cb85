#include "tools/gemm_speed.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "autograd/array.h"
#include "autograd/blas.h"

namespace heed::cli {

double gemm_gflops() {
  using Clock = std::chrono::steady_clock;
  const int64_t n = 1024;
  const Array a = Array::full({n, n}, 1), b = Array::full({n, n}, 1);
  Array c = Array::zeros({n, n});
  std::vector<double> seconds;
  const Clock::time_point start = Clock::now();
  while (seconds.size() < 5 || Clock::now() - start < std::chrono::milliseconds(330)) {
    const Clock::time_point begin = Clock::now();
    gemm(Trans::no, Trans::no, n, n, n, 1, a.data(), n, b.data(), n, 0, c.mutable_data(), n);
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  seconds.erase(seconds.begin(), seconds.begin() + 2);
  std::nth_element(seconds.begin(),
                   seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2),
                   seconds.end());
  return 2.0 * static_cast<double>(n * n * n) / seconds[seconds.size() / 2] / 1e9;
}

}  // namespace heed::cli
