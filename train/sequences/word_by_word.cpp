#include "train/sequences/word_by_word.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace heed {

namespace {

constexpr int64_t most_pairs = 20'000, most_entries = int64_t{1} << 24;  // 134 MB of doubles
constexpr int64_t pairs_at_once = 256;
constexpr int rounds = 20;  // of expectation maximisation; the tables of our tasks are sure by 10

struct SentencePair {
  std::vector<int32_t> source, target;  // without padding
};

// Example b of a batch.
SentencePair pair_of(const Batch& batch, int64_t b) {
  const auto row = [b](const auto& all) {
    return std::span(all.data() + b * all.dim(1), static_cast<size_t>(all.dim(1)));
  };
  const std::span<const int32_t> source = row(batch.input.source_ids);
  const Mask& mask = batch.input.source_mask;
  SentencePair pair;
  for (size_t s = 0; s < source.size(); ++s) {
    if (!mask || row(mask)[s] != 0) pair.source.push_back(source[s]);
  }
  const std::span<const int32_t> targets = row(batch.targets);
  std::copy_if(targets.begin(), targets.end(), std::back_inserter(pair.target),
               [](int32_t target) { return target != ignored_target; });
  return pair;
}

void for_pairs(const Task& task, Split split, int64_t count,
               const std::function<void(SentencePair)>& see) {
  for (int64_t done = 0; done < count; done += pairs_at_once) {
    std::vector<int64_t> which(static_cast<size_t>(std::min(pairs_at_once, count - done)));
    std::iota(which.begin(), which.end(), done);
    const Batch batch = task.examples(split, which);
    for (int64_t b = 0; b < std::ssize(which); ++b) {
      see(pair_of(batch, b));
    }
  }
}

// t(e | f) as a matrix (words of the source, words of the target).
class Model1 {
 public:
  Model1(int64_t sources, int64_t targets)
      : targets_(targets), t_(static_cast<size_t>(sources * targets), 1.0), counts_(t_.size()) {}

  void count(const SentencePair& pair) {
    for (const int32_t e : pair.target) {
      double sum = 0;  // over the words of the source that e may come from
      for (const int32_t f : pair.source) sum += t_[at(f, e)];
      for (const int32_t f : pair.source) {
        counts_[at(f, e)] += sum > 0 ? t_[at(f, e)] / sum : 0;
      }
    }
  }

  // Makes probabilities of what was counted, which starts again from 0.
  void normalise() {
    for (size_t begin = 0; begin < t_.size(); begin += static_cast<size_t>(targets_)) {
      const auto row = counts_.begin() + static_cast<ptrdiff_t>(begin);
      const double sum = std::accumulate(row, row + targets_, 0.0);
      std::transform(row, row + targets_, t_.begin() + static_cast<ptrdiff_t>(begin),
                     [sum](double c) { return sum > 0 ? c / sum : 0; });
    }
    std::fill(counts_.begin(), counts_.end(), 0.0);
  }

  int32_t best(int64_t f) const {
    const auto row = t_.begin() + f * targets_;
    return static_cast<int32_t>(std::max_element(row, row + targets_) - row);
  }

 private:
  size_t at(int32_t f, int32_t e) const { return static_cast<size_t>(f * targets_ + e); }

  const int64_t targets_;
  std::vector<double> t_, counts_;
};

}  // namespace

WordTable::WordTable(const Task& task) {
  const int64_t sources = task.model_size("source_vocab_size"), targets = task.output_size();
  require<ConfigError>(sources > 0, "word by word: this task has no source_ids to translate");
  require<ConfigError>(sources <= most_entries / std::max<int64_t>(1, targets),
                       "word by word: ", sources, " by ", targets,
                       " words are too many for a table");
  pairs_ = std::min(most_pairs, task.example_count(Split::train));
  require<ConfigError>(pairs_ > 0, "word by word: the task has no training examples to learn from");
  std::vector<SentencePair> pairs;
  for_pairs(task, Split::train, pairs_,
            [&](SentencePair pair) { pairs.push_back(std::move(pair)); });
  Model1 model(sources, targets);
  for (int round = 0; round < rounds; ++round) {
    for (const SentencePair& pair : pairs) {
      model.count(pair);
    }
    model.normalise();
  }
  for (int64_t f = 0; f < sources; ++f) {
    best_.push_back(model.best(f));
  }
}

std::vector<int32_t> WordTable::translate(std::span<const int32_t> source) const {
  std::vector<int32_t> target;
  for (const int32_t word : source) {
    target.push_back(best_.at(static_cast<size_t>(word)));
  }
  return target;
}

Score WordTable::score(const Task& task) const {
  Score score;
  for_pairs(task, Split::validation, task.example_count(Split::validation),
            [&](const SentencePair& pair) {
              const std::vector<int32_t> written = translate(pair.source);
              const auto length = std::ssize(pair.target);
              int64_t right = 0;
              for (size_t i = 0; i < std::min(written.size(), pair.target.size()); ++i) {
                right += written[i] == pair.target[i] ? 1 : 0;
              }
              score.targets += length;
              score.right += right;
              for (Score::Sequences* of : {&score.sequences, &score.by_length[length]}) {
                of->all += 1;
                of->exact += written == pair.target ? 1 : 0;
              }
            });
  return score;
}

}  // namespace heed
