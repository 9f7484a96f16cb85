#include "autograd/kernels/gemm.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <optional>
#include <vector>

#include "autograd/base/error.h"
#include "autograd/base/modes.h"
#include "autograd/kernels/choice.h"
#include "autograd/kernels/cut.h"
#include "autograd/threads/parallel.h"

namespace heed {

namespace {

using detail::kernel_in_use;
using detail::Product;
using detail::ProductKernel;

thread_local int64_t flops_so_far = 0;

// C += from, both (m, n)
void add_matrix(ConstMatrix from, Matrix c) {
  for (int64_t r = 0; r < c.rows(); ++r) {
    real* const to = c.data() + r * c.step();
    const real* const row = from.data() + r * from.step();
#pragma omp simd
    for (int64_t i = 0; i < c.columns(); ++i) {
      to[i] += row[i];
    }
  }
}

// One product of a shared loop. Its chunks are the tiles of C, or twice as many if the depth is cut
// in halves: then the second half is computed into a buffer (m, n), and the thread that completes a
// tile adds the buffer's to that of C.
class SharedProduct {
 public:
  SharedProduct(const Product& p, detail::Epilogue epilogue, void* context)
      : epilogue_(epilogue),
        context_(context),
        work_(detail::work_of(p)),
        halved_(epilogue == nullptr && detail::halves_depth(p)),
        middle_(halved_ ? detail::round_up(p.k() / 2, 32) : p.k()),
        first_(p.depth(0, middle_)),
        second_(p.depth(middle_, p.k())),
        kernel_(kernel_in_use().products),
        tiles_(std::min(p.m(), p.n()) == 1 || !kernel_->any_tiles
                   ? detail::Tiles::by_shape(first_)
                   : detail::Tiles::for_threads(first_, halved_ ? second_.k() : first_.k(),
                                                threads_for_tiles())) {}

  int64_t chunks() const { return (halved_ ? 2 : 1) * tiles_.count(); }
  double work() const { return work_; }
  double chunk_work() const { return work_ / static_cast<double>(chunks()); }
  int64_t numbers() const { return halved_ ? first_.m() * first_.n() : 0; }  // of the buffer
  int64_t counters() const { return halved_ ? tiles_.count() : 0; }

  // Before the first chunk: the buffer, and counters that are 0.
  void set_memory(real* numbers, int* halves_done) {
    if (halved_) {
      second_.c = Matrix(numbers, first_.m(), first_.n());
      second_.add = false;
      halves_done_ = halves_done;
    }
  }

  void run_chunk(int64_t chunk) const {
    const int64_t tile = chunk % tiles_.count();
    const Block block = tiles_.block(tile);
    const Product part = part_of(chunk < tiles_.count() ? first_ : second_, block);
    kernel_->multiply(part);
    if (halved_ && std::atomic_ref(halves_done_[tile]).fetch_add(1) == 1) {
      add_matrix(part_of(second_, block).c, part_of(first_, block).c);
    }
    if (epilogue_ != nullptr) {
      epilogue_(context_, block);
    }
  }

 private:
  // Two threads take a half each. More are kept busy better by smaller parts of both.
  int threads_for_tiles() const { return halved_ && num_threads() == 2 ? 1 : num_threads(); }

  detail::Epilogue epilogue_;
  void* context_;
  double work_;
  bool halved_;
  int64_t middle_;
  Product first_, second_;  // halves of the depth; or everything, and nothing
  const ProductKernel* kernel_;
  detail::Tiles tiles_;
  int* halves_done_ = nullptr;  // of each tile
};

// The second may be missing. Threads take chunks in order. If those of both products are alike,
// they are mixed: a thread that gets the first rows of one then also gets the first rows of the
// other. Otherwise the large ones come first, so that threads end together.
void run_together(SharedProduct& first, SharedProduct* second) {
  const auto of_second = [&](auto count) { return second != nullptr ? count(*second) : 0; };
  const int64_t counters = first.counters() + of_second([](auto& p) { return p.counters(); });
  const int64_t numbers = first.numbers() + of_second([](auto& p) { return p.numbers(); });
  const int64_t chunks = first.chunks() + of_second([](auto& p) { return p.chunks(); });
  // Not from the pool: called in bodies of loops, too. They keep their size from call to call.
  thread_local std::vector<real> memory;
  thread_local std::vector<int> halves_done;
  memory.resize(std::max(memory.size(), static_cast<size_t>(numbers)));
  halves_done.assign(static_cast<size_t>(counters), 0);
  first.set_memory(memory.data(), halves_done.data());
  if (second != nullptr) {
    second->set_memory(memory.data() + first.numbers(), halves_done.data() + first.counters());
  }
  constexpr double alike = 1.5;
  const double larger = second == nullptr ? 1 : first.chunk_work() / second->chunk_work();
  const auto of_first_before = [=, n = first.chunks()](int64_t i) {
    return larger >= alike       ? std::min(i, n)
           : larger <= 1 / alike ? std::max<int64_t>(0, i - (chunks - n))
                                 : i * n / chunks;
  };
  // Two products of less work than a region costs run here.
  constexpr double small_work = 1 << 17;  // multiply-adds: a few microseconds
  const double work = first.work() + of_second([](auto& p) { return p.work(); });
  const int64_t grain = work < small_work ? chunks : 1;
  parallel_each(chunks, grain, [&](int64_t i) {
    const int64_t before = of_first_before(i);
    if (of_first_before(i + 1) > before) {
      first.run_chunk(before);
    } else {
      second->run_chunk(i - before);
    }
  });
}

void check_matrix(const char* name, ConstMatrix m) {
  const int64_t length = m.is_transposed() ? m.rows() : m.columns();
  require(m.step() >= std::max<int64_t>(length, 1) && m.step() <= INT_MAX,
          "matrix product: expected rows of ", name, " in memory at a step from ",
          std::max<int64_t>(length, 1), " to ", INT_MAX, ", got ", m.step());
}

// If C is a transposed view, C^T = B^T A^T is computed instead.
Product checked(ConstMatrix a, ConstMatrix b, Into<Matrix> to) {
  kernel_in_use();  // may throw, as bodies of loops must not
  const Matrix c = to.c;
  if (c.is_transposed()) {
    return checked(b.transposed(), a.transposed(), {c.transposed(), to.add});
  }
  require(a.columns() == b.rows() && a.rows() == c.rows() && b.columns() == c.columns(),
          "matrix product: expected (m, k) @ (k, n) into (m, n), got (", a.rows(), ", ",
          a.columns(), ") @ (", b.rows(), ", ", b.columns(), ") into (", c.rows(), ", ",
          c.columns(), ")");
  require(std::min({a.rows(), a.columns(), b.columns()}) >= 0 &&
              std::max({a.rows(), a.columns(), b.columns()}) <= INT_MAX,
          "matrix product: expected dimensions from 0 to ", INT_MAX, ", got (", a.rows(), ", ",
          a.columns(), ") @ (", b.rows(), ", ", b.columns(), ")");
  check_matrix("A", a);
  check_matrix("B", b);
  check_matrix("C", c);
  return {a, b, c, to.add};
}

// No product if there is nothing to compute.
std::optional<SharedProduct> shared(const detail::ProductWithEpilogue& product) {
  const Factors& f = product.factors;
  require(product.epilogue == nullptr || !f.to.c.is_transposed(),
          "matrix product: an epilogue expects a C that is not transposed");
  const Product p = checked(f.a, f.b, f.to);
  count_flops(2 * p.m() * p.n() * p.k());
  if (dry_run() || p.m() == 0 || p.n() == 0) {
    return std::nullopt;
  }
  return SharedProduct(p, product.epilogue, product.context);
}

}  // namespace

void detail::multiply(const ProductWithEpilogue& first) {
  if (auto product = shared(first)) {
    run_together(*product, nullptr);
  }
}

void detail::multiply(const ProductWithEpilogue& first, const ProductWithEpilogue& second) {
  auto one = shared(first), other = shared(second);
  if (one && other) {
    run_together(*one, &*other);
  } else if (one || other) {
    run_together(one ? *one : *other, nullptr);
  }
}

void multiply(const Factors& factors) { detail::multiply({factors}); }

void multiply_both(const Factors& first, const Factors& second) {
  detail::multiply({first}, {second});
}

void multiply_each(int64_t count, ConstMatrices a, ConstMatrices b, Into<Matrices> to) {
  require(count >= 0, "matrix products: expected 0 or more of them, got ", count);
  if (to.c.first.is_transposed()) {
    multiply_each(count, b.transposed(), a.transposed(), {to.c.transposed(), to.add});
    return;
  }
  constexpr int64_t few = 4;
  if (count < few) {
    for (int64_t i = 0; i < count; ++i) {
      multiply(a[i], b[i], into(to.c[i], to.add));
    }
    return;
  }
  const Product first = checked(a.first, b.first, {to.c.first, to.add});
  const int64_t work = first.m() * first.n() * first.k();
  count_flops(2 * count * work);
  if (dry_run() || first.m() == 0 || first.n() == 0) {
    return;
  }
  constexpr int64_t chunk_work = int64_t{1} << 19;
  const int64_t grain = std::clamp<int64_t>(chunk_work / std::max<int64_t>(work, 1), 1, count);
  parallel_each(count, grain, [&](int64_t i) {
    const Product p{a[i], b[i], to.c[i], to.add};
    kernel_in_use().products->multiply(p);
  });
}

int64_t flop_count() { return flops_so_far; }

void count_flops(int64_t flops) { flops_so_far += flops; }

}  // namespace heed
