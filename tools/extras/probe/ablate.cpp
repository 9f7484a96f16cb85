#include "tools/extras/probe/ablate.h"

#include <algorithm>

#include "tools/extras/report/parts.h"
#include "train/evaluate.h"

namespace heed::probe {

namespace {

using Key = std::tuple<const Module*, Activation, int64_t>;

// Sums of an activation over everything but its last axes: the width of an output (d), or the heads
// and their width (H, d). What a mask (B, T) hides is left out.
struct Sums {
  std::vector<double> of;
  int64_t rows = 0;
  int64_t heads = 1;

  void add(const Array& value, Activation what, const Mask& mask) {
    heads = what == Activation::heads ? value.dim(2) : 1;
    const int64_t width = heads * value.dim(-1), all = value.size() / width;
    of.resize(static_cast<size_t>(width));
    for (int64_t row = 0; row < all; ++row) {
      if (mask && mask.size() == all && mask.data()[row] == 0) continue;
      ++rows;
      for (size_t i = 0; i < of.size(); ++i) {
        of[i] += static_cast<double>(value.data()[row * width + static_cast<int64_t>(i)]);
      }
    }
  }
};

// Watches parts, and knows what the whole model is given.
class WithInput : public PartObserver {
 public:
  WithInput(const Module& model, Input& given, std::vector<Watched> watched, Visitor visitor)
      : PartObserver(std::move(watched), std::move(visitor)), model_(model), given_(given) {}
  void before_forward(const Module& layer, const Input& in) override {
    if (&layer == &model_) given_ = in;
    PartObserver::before_forward(layer, in);
  }

 private:
  const Module& model_;
  Input& given_;
};

// `value` with the columns of one head (of all of an output: heads 1, head 0) replaced.
Array replaced(const Array& value, const Sums& sums, int64_t head, Ablation with) {
  Array out = value.clone();
  const size_t all = sums.of.size(), width = all / static_cast<size_t>(sums.heads);
  const size_t first = static_cast<size_t>(head) * width;
  const auto rows = static_cast<double>(sums.rows);
  real* const data = out.mutable_data();
  for (size_t row = 0; row < static_cast<size_t>(out.size()); row += all) {
    for (size_t i = first; i < first + width; ++i) {
      data[row + i] = with == Ablation::zero ? real{0} : static_cast<real>(sums.of[i] / rows);
    }
  }
  return out;
}

// The parts in the order in which they run.
std::vector<PartObserver::Watched> parts_of(const Module& model) {
  std::vector<PartObserver::Watched> parts;
  for (const std::vector<Block>& stack : stacks_of(model, "heed probe: ablate")) {
    for (const Block& block : stack) {
      for (const Module* attention : block.attention) {
        parts.push_back({attention, Activation::heads});
        parts.push_back({attention, Activation::output});
      }
      if (block.feed_forward != nullptr) {
        parts.push_back({block.feed_forward, Activation::output});
      }
    }
  }
  return parts;
}

}  // namespace

Ablations ablate(Module& model, const Task& task, Ablation what, int64_t batch_size,
                 std::optional<int64_t> batches) {
  const std::vector<PartObserver::Watched> parts = parts_of(model);
  const auto evaluated = [&] {
    return evaluate(model, task, Split::validation, batch_size, batches);
  };
  std::map<Key, Sums> sums;
  Ablations found;
  {
    Input in;
    const WithInput observer(model, in, parts, [&](const Observation& seen) {
      const bool of_source = in.source_ids && !seen.beside_context;
      sums[seen.key()].add(seen.value, seen.what, of_source ? in.source_mask : in.mask);
      return Array();
    });
    const Evaluation whole = evaluated();
    found.loss = whole.loss, found.accuracy = whole.accuracy;
  }
  const auto without = [&](const Key& key, int64_t head) {
    const auto& [part, activation, first] = key;
    const PartObserver observer({{part, activation}}, [&](const Observation& seen) {
      return seen.key() == key ? replaced(seen.value, sums.at(key), head, what) : Array();
    });
    const Evaluation rest = evaluated();
    const bool one_head = activation == Activation::heads;
    found.parts.push_back({part->path(), one_head ? std::optional(first + head) : std::nullopt,
                           rest.loss, rest.accuracy});
  };
  for (const PartObserver::Watched& part : parts) {
    for (const auto& [key, of] : sums) {
      if (std::get<0>(key) == part.part && std::get<1>(key) == part.what) {
        for (int64_t head = 0; head < of.heads; ++head) {
          without(key, head);
        }
      }
    }
  }
  std::stable_sort(found.parts.begin(), found.parts.end(),
                   [](const Ablated& a, const Ablated& b) { return a.loss > b.loss; });
  return found;
}

}  // namespace heed::probe
