#include "tools/extras/gradients/measure/reach.h"

#include <algorithm>

#include "tools/extras/gradients/backward/loss.h"

namespace heed::gradients {

namespace {

const std::string reach_name = "heed probe: reach";

// Sums by distance, and how many windows were added to each.
class Mean {
 public:
  // The gradients of a sequence (1, T, d), from position `last` back.
  void add(const Array& gradient, int64_t last) {
    const auto width = static_cast<size_t>(gradient.dim(2));
    const auto rows = static_cast<size_t>(last) + 1;
    sums_.resize(std::max(sums_.size(), rows));
    counts_.resize(sums_.size());
    for (size_t k = 0; k < rows; ++k) {
      sums_[k] += euclidean_norm(gradient.span().subspan((rows - 1 - k) * width, width));
      counts_[k] += 1;
    }
  }
  std::vector<double> values() const {
    std::vector<double> means = sums_;
    for (size_t k = 0; k < means.size(); ++k) means[k] /= counts_[k];
    return means;
  }

 private:
  std::vector<double> sums_, counts_;
};

// The last of `mask` (1, T) that is a token; without a mask, the last of T.
int64_t last_token(const Mask& mask, int64_t tokens) {
  int64_t last = tokens - 1;
  while (mask && mask.rank() == 2 && last > 0 && mask.data()[last] == 0) --last;
  return last;
}

class Reaching {
 public:
  explicit Reaching(Module& model) : model_(model) {}

  template <class Choose>
  void add(const Input& in, Choose&& target_of) {
    Target target;
    bool by_token = false;
    const Recording recording = record(
        model_, in, {}, {},
        [&](const Array& logits) {
          target = target_of(logits);
          by_token = logits.rank() == 3;
          return loss_cotangent(logits, target);
        },
        reach_name);
    const Embedded& last = recording.embeddings.back();
    const int64_t at = by_token ? target.row : last_token(in.mask, last.ids.size());
    read_.add(last.vectors.gradient, at);
    if (recording.embeddings.size() > 1) {
      const Embedded& source = recording.embeddings.front();
      source_.add(source.vectors.gradient, last_token(in.source_mask, source.ids.size()));
    }
    ++windows_;
    zero_gradients(model_);
  }

  Reach found() const { return {read_.values(), source_.values(), windows_}; }

 private:
  Module& model_;
  Mean read_, source_;
  int64_t windows_ = 0;
};

// The last target that counts; -1: there is none.
int64_t last_counted(const Ids& targets) {
  int64_t at = targets.size() - 1;
  while (at >= 0 && targets.data()[at] == ignored_target) --at;
  return at;
}

}  // namespace

Reach reach(Module& model, const Input& in, int32_t answer) {
  Reaching reaching(model);
  reaching.add(in, [&](const Array& logits) { return last_target(logits, answer); });
  return reaching.found();
}

Reach reach(Module& model, const Task& task, int64_t windows) {
  const int64_t available = task.data().example_count(Split::validation);
  require<ConfigError>(available > 0, reach_name,
                       ": the data has no validation part; --prompt and ",
                       "--answer ask about one prompt");
  const int64_t count = std::min(windows, available);
  Reaching reaching(model);
  for (int64_t i = 0; i < count; ++i) {
    const Batch batch = task.data().examples(Split::validation, {i * available / count});
    require<ConfigError>(static_cast<bool>(batch.targets), reach_name,
                         ": expected a task whose targets are tokens or classes");
    const int64_t at = last_counted(batch.targets);
    if (at < 0) continue;
    reaching.add(batch.input, [&](const Array&) { return Target{at, batch.targets.data()[at]}; });
  }
  Reach found = reaching.found();
  require<ConfigError>(found.windows > 0, reach_name, ": no validation example has a target");
  return found;
}

}  // namespace heed::gradients
