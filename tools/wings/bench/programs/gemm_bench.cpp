// GFLOP/s of the matrix products in training: OpenBLAS and heed on one thread, and heed on all
// threads. The three are timed alternately, so that other load affects all of them, and medians are
// printed.
//   gemm_bench [seconds per shape = 0.5]
#include <cblas.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "autograd/kernels/blas_info.h"
#include "autograd/kernels/gemm.h"
#include "autograd/random/fills.h"
#include "autograd/random/generator.h"
#include "autograd/threads/machine.h"
#include "autograd/threads/parallel.h"
#include "tools/wings/bench/median.h"

namespace {

using heed::ConstMatrix;
using heed::Matrix;
using heed::real;
using heed::Trans;

struct Shape {
  const char* what;
  Trans ta;
  Trans tb;
  int64_t m;
  int64_t n;
  int64_t k;
};

constexpr Trans no = Trans::no;
constexpr Trans yes = Trans::yes;
constexpr Shape shapes[] = {
    {"char-GPT qkv", no, yes, 768, 384, 128},     {"char-GPT up", no, yes, 768, 512, 128},
    {"char-GPT down", no, yes, 768, 128, 512},    {"char-GPT dx", no, no, 768, 128, 512},
    {"char-GPT dW", yes, no, 512, 128, 768},      {"384 wide q", no, yes, 2048, 384, 384},
    {"384 wide up", no, yes, 2048, 1536, 384},    {"384 wide down", no, yes, 2048, 384, 1536},
    {"384 wide dW", yes, no, 384, 384, 2048},     {"GPT-2 q", no, yes, 256, 768, 768},
    {"GPT-2 up", no, yes, 256, 3072, 768},        {"GPT-2 down", no, yes, 256, 768, 3072},
    {"GPT-2 dW", yes, no, 3072, 768, 256},        {"GPT-2 logits", no, yes, 256, 50257, 768},
    {"GPT-2 logits dx", no, no, 256, 768, 50257}, {"GPT-2 logits dW", yes, no, 50257, 768, 256},
    {"one token, q", no, yes, 1, 768, 768},       {"one token, logits", no, yes, 1, 50257, 768},
};

CBLAS_TRANSPOSE flag(ConstMatrix m) { return m.is_transposed() ? CblasTrans : CblasNoTrans; }

// One call of the library. Benchmarks are built for float32 only.
void openblas(ConstMatrix a, ConstMatrix b, Matrix c) {
  const auto narrow = [](int64_t extent) { return static_cast<int>(extent); };
  cblas_sgemm(CblasRowMajor, flag(a), flag(b), narrow(c.rows()), narrow(c.columns()),
              narrow(a.columns()), 1, a.data(), narrow(a.step()), b.data(), narrow(b.step()), 0,
              c.data(), narrow(c.step()));
}

void ours(ConstMatrix a, ConstMatrix b, Matrix c) { heed::multiply(a, b, heed::into(c)); }

class Bench {
 public:
  explicit Bench(const Shape& s)
      : s_(s), a_(size(s.m, s.k)), b_(size(s.k, s.n)), c_(size(s.m, s.n)) {
    // Random values: a CPU at its power limit runs faster on numbers with few significant bits.
    heed::Generator generator(1);
    heed::fill_uniform(generator, a_, -1, 1);
    heed::fill_uniform(generator, b_, -1, 1);
  }

  void print(double budget, int threads) {
    std::vector<double> call, one, all;
    double passed = 0;
    while (passed < budget || call.size() < 5) {
      call.push_back(time(openblas, 1));
      one.push_back(time(ours, 1));
      all.push_back(time(ours, threads));
      passed += call.back() + one.back() + all.back();
    }
    std::printf("%-18s %5lld %5lld %5lld %8.0f %8.0f %8.0f\n", s_.what,
                static_cast<long long>(s_.m), static_cast<long long>(s_.n),
                static_cast<long long>(s_.k), rate(call), rate(one), rate(all));
  }

 private:
  static size_t size(int64_t rows, int64_t columns) { return static_cast<size_t>(rows * columns); }

  // The matrix (rows, columns), plain or as the transpose of what is in memory.
  static ConstMatrix view(Trans t, const std::vector<real>& numbers, int64_t rows,
                          int64_t columns) {
    return t == no ? ConstMatrix(numbers.data(), rows, columns)
                   : ConstMatrix(numbers.data(), columns, rows).transposed();
  }

  template <class Multiply>
  double time(Multiply&& multiply, int threads) {
    heed::set_num_threads(threads);
    return heed::seconds_of([&] {
      multiply(view(s_.ta, a_, s_.m, s_.k), view(s_.tb, b_, s_.k, s_.n),
               Matrix(c_.data(), s_.m, s_.n));
    });
  }

  double rate(const std::vector<double>& times) const {
    const double flops =
        2.0 * static_cast<double>(s_.m) * static_cast<double>(s_.n) * static_cast<double>(s_.k);
    return flops / heed::median(times) * 1e-9;
  }

  Shape s_;
  std::vector<real> a_;
  std::vector<real> b_;
  std::vector<real> c_;
};

}  // namespace

int main(int argc, char** argv) {
  const double budget = argc > 1 ? std::atof(argv[1]) : 0.5;
  const int threads = heed::num_threads();
  const heed::BlasInfo blas = heed::blas_info();
  openblas_set_num_threads(1);
  std::printf("%s, %s kernel (%s), %d threads, %s\n%s%s", heed::cpu().model.c_str(),
              blas.kernel.c_str(), blas.flavour.c_str(), threads, heed::precision_name,
              blas.warning.c_str(), blas.warning.empty() ? "" : "\n");
  std::printf("%-18s %5s %5s %5s %8s %8s %8s\n", "GFLOP/s", "m", "n", "k", "OpenBLAS", "1 thread",
              "threads");
  for (const Shape& shape : shapes) {
    Bench(shape).print(budget, threads);
  }
}
