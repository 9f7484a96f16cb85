// One shared loop over the elements of many arrays: small ones then cost no loop of their own.
#pragma once

#include <algorithm>
#include <vector>

#include "autograd/threads/parallel.h"

namespace heed {

// Work is called as work(begin, end) for a part of its elements. It may run on any thread, and in
// any order with other parts. run() and sum() forget the arrays.
template <class Work>
class ElementLoop {
 public:
  // `grain`: elements in a part.
  explicit ElementLoop(int64_t grain) : grain_(grain) {}

  // Elements [0, size) of one array. Nothing runs yet.
  void add(int64_t size, const Work& work) {
    if (dry_run()) {
      return;
    }
    for (int64_t begin = 0; begin < size; begin += grain_) {
      parts_.push_back({works_.size(), begin, std::min(size, begin + grain_)});
    }
    works_.push_back(work);
    elements_ += std::max<int64_t>(0, size);
  }

  void run() {
    parallel_each(count(), parts_of_chunk(), [&](int64_t k) { run_part(k); });
    clear();
  }

  // The sum of what the calls return, in the order of add().
  double sum() {
    const double total = parallel_sum(count(), parts_of_chunk(), [&](int64_t begin, int64_t end) {
      double of_chunk = 0;
      for (int64_t k = begin; k < end; ++k) of_chunk += run_part(k);
      return of_chunk;
    });
    clear();
    return total;
  }

 private:
  int64_t count() const { return static_cast<int64_t>(parts_.size()); }
  // One, or all where the arrays together are hardly more work than a part should be: threads would
  // cost more than they gain.
  int64_t parts_of_chunk() const { return elements_ <= grain_ ? std::max<int64_t>(1, count()) : 1; }
  auto run_part(int64_t k) const {
    const Part& part = parts_[static_cast<size_t>(k)];
    return works_[part.work](part.begin, part.end);
  }
  void clear() {
    works_.clear();
    parts_.clear();
    elements_ = 0;
  }

  struct Part {
    size_t work;
    int64_t begin, end;
  };

  int64_t grain_;
  int64_t elements_ = 0;
  std::vector<Work> works_;  // both keep their capacity from step to step
  std::vector<Part> parts_;
};

}  // namespace heed
