// One shared loop over the elements of many arrays: small ones then cost no loop of their own.
#pragma once

#include <algorithm>
#include <vector>

#include "autograd/threads/parallel.h"

namespace heed {

// Work is called as work(begin, end) for a part of its elements. It may run on any thread, and in
// any order with other parts.
template <class Work>
class ElementLoop {
 public:
  // `grain`: elements in a part.
  explicit ElementLoop(int64_t grain) : grain_(grain) {}

  // Elements [0, size) of one array. Nothing runs before run().
  void add(int64_t size, const Work& work) {
    if (dry_run()) {
      return;
    }
    for (int64_t begin = 0; begin < size; begin += grain_) {
      parts_.push_back({works_.size(), begin, std::min(size, begin + grain_)});
    }
    works_.push_back(work);
  }

  void run() {
    parallel_for(static_cast<int64_t>(parts_.size()), 1, [&](int64_t k, int64_t) {
      const Part& part = parts_[static_cast<size_t>(k)];
      works_[part.work](part.begin, part.end);
    });
    works_.clear();
    parts_.clear();
  }

 private:
  struct Part {
    size_t work;
    int64_t begin, end;
  };

  int64_t grain_;
  std::vector<Work> works_;  // both keep their capacity from step to step
  std::vector<Part> parts_;
};

}  // namespace heed
