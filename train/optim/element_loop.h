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
    if (is_small()) {
      for (int64_t k = 0; k < count(); ++k) run_part(k);
    } else {
      parallel_for(count(), 1, [&](int64_t k, int64_t) { run_part(k); });
    }
    clear();
  }

  // The sum of what the calls return, in the order of add().
  double sum() {
    double total = 0;
    if (is_small()) {
      for (int64_t k = 0; k < count(); ++k) total += run_part(k);
    } else {
      total = parallel_sum(count(), 1, [&](int64_t k, int64_t) { return run_part(k); });
    }
    clear();
    return total;
  }

 private:
  int64_t count() const { return static_cast<int64_t>(parts_.size()); }
  // Many arrays, but hardly more work than a part should have: threads would cost more than they
  // gain.
  bool is_small() const { return elements_ <= grain_; }
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
