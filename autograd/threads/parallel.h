// Loops and sums that are shared between threads, by OpenMP. The result does not depend on how many
// there are.
//
// A loop over `count` items is cut into the fixed chunks [c * grain, min(count, (c + 1) * grain)).
// They depend on count and grain alone, so every item is computed by the same instructions, and
// every partial sum has the same terms, for any number of threads. Choose `grain` from the shape,
// never from num_threads(): a chunk of about 20 microseconds is worth handing to another thread.
//
// Bodies must not touch the buffer pool. If one throws, chunks that nobody has begun are left out,
// and the caller gets the first exception. A loop inside a body runs serially, on the thread that
// reaches it. So does a loop inside an OpenMP region of the calling program, and a loop that begins
// while a loop of another thread of the program uses the cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "autograd/base/modes.h"

namespace heed {

// At first the physical cores within affinity and cgroup quota, or the first number of
// OMP_NUM_THREADS when that is set.
int num_threads();

// Takes effect at the next loop; values below 1 mean 1, those above most_threads mean most_threads.
// A number that is set here or in OMP_NUM_THREADS is kept: limit_threads() changes nothing then.
void set_num_threads(int threads);
bool threads_were_set();

// At most this many: for a program that knows that more do not pay.
void limit_threads(int threads);

// True inside an OpenMP region: in the body of a shared loop, or in a region of the calling
// program.
bool in_parallel();

// In the body of a shared loop: the place of the calling thread in the loop's team, from 0 to
// num_threads() - 1, for memory that threads do not share. 0 elsewhere.
int thread_index();

// Numbers in a chunk: of a loop, and of a sum, whose last bits depend on it.
inline constexpr int64_t elementwise_grain = 4096, sum_grain = 16384;

// Rows in a chunk, for rows of `width` numbers.
inline int64_t row_grain(int64_t width, int64_t numbers = elementwise_grain) {
  return std::max<int64_t>(1, numbers / std::max<int64_t>(1, width));
}

namespace detail {

using ChunkBody = void (*)(void* context, int64_t begin, int64_t end);
using ChunkSum = double (*)(void* context, int64_t begin, int64_t end);

// A body of any type behind a pointer.
template <class Result, class Body>
Result call(void* body, int64_t begin, int64_t end) {
  return static_cast<Result>((*static_cast<Body*>(body))(begin, end));
}

void run_chunks(int64_t count, int64_t grain, ChunkBody body, void* context);
double sum_chunks(int64_t count, int64_t grain, ChunkSum body, void* context);

}  // namespace detail

// body(begin, end) for every chunk, in any order. A single chunk runs at once, without threads; in
// a dry run nothing runs.
template <class Body>
void parallel_for(int64_t count, int64_t grain, Body&& body) {
  const detail::ChunkBody call = detail::call<void, std::remove_reference_t<Body>>;
  void* const context = const_cast<void*>(static_cast<const void*>(std::addressof(body)));
  if (count > 0 && count <= grain && !dry_run()) {
    call(context, 0, count);
  } else {
    detail::run_chunks(count, grain, call, context);
  }
}

// body(i) for every item, `grain` of them in a chunk.
template <class Body>
void parallel_each(int64_t count, int64_t grain, Body&& body) {
  parallel_for(count, grain, [&body](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}

// body(r) for every row of `width` numbers, which it writes. Rows of nothing, however many, take no
// time.
template <class Body>
void parallel_rows(int64_t count, int64_t width, Body&& body) {
  parallel_each(width > 0 ? count : 0, row_grain(width), std::forward<Body>(body));
}

// The sum of body(begin, end) over all chunks, added in the order of the chunks. 0 in a dry run.
template <class Body>
double parallel_sum(int64_t count, int64_t grain, Body&& body) {
  void* const context = const_cast<void*>(static_cast<const void*>(std::addressof(body)));
  return detail::sum_chunks(count, grain, detail::call<double, std::remove_reference_t<Body>>,
                            context);
}

}  // namespace heed
