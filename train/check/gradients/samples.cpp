#include "train/check/gradients/samples.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace heed {

namespace {

// One axis of a Latin hypercube. It is cut into `count` bins, or one for each index if it has fewer
// of these. Each bin gives one index in every round, in random order. The first round begins with
// the first index and the last.
class Axis {
 public:
  Axis(int64_t extent, int64_t count) : extent_(extent), bins_(std::min(extent, count)) {
    order_.resize(static_cast<size_t>(bins_));
    std::iota(order_.begin(), order_.end(), 0);
  }

  int64_t at(int64_t draw, std::mt19937_64& words) {
    const int64_t k = draw % bins_;
    if (draw == 0) {
      std::swap(order_[order_.size() > 1 ? 1 : 0], order_.back());
      std::shuffle(order_.begin() + std::min<int64_t>(2, bins_), order_.end(), words);
    } else if (k == 0) {
      std::shuffle(order_.begin(), order_.end(), words);
    }
    if (draw < 2) {
      return draw == 0 ? 0 : extent_ - 1;
    }
    const int64_t bin = order_[static_cast<size_t>(k)];
    const int64_t begin = bin * extent_ / bins_, end = (bin + 1) * extent_ / bins_;
    return begin + static_cast<int64_t>(words() % static_cast<uint64_t>(end - begin));
  }

 private:
  const int64_t extent_, bins_;
  std::vector<int64_t> order_;
};

}  // namespace

std::vector<int64_t> sampled_elements(const Shape& shape, int64_t count) {
  if (count >= shape.size()) {
    std::vector<int64_t> all(static_cast<size_t>(shape.size()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::vector<Axis> axes;
  for (const int64_t extent : shape.dims()) {
    axes.emplace_back(extent, count);
  }
  std::mt19937_64 words(1);
  std::set<int64_t> chosen;
  for (int64_t draw = 0; static_cast<int64_t>(chosen.size()) < count; ++draw) {
    int64_t element = 0;
    for (size_t a = 0; a < axes.size(); ++a) {
      element = element * shape.dims()[a] + axes[a].at(draw, words);
    }
    chosen.insert(element);
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace heed
