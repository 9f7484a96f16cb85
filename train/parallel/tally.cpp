#include "train/parallel/tally.h"

#include <numeric>
#include <span>

namespace heed {

namespace {

// A tally as a row of 64-bit numbers: the counts, the sequences by length, the losses.
std::string to_bytes(const Tally& tally) {
  std::vector<int64_t> counts{tally.counted,
                              tally.bytes,
                              tally.score.targets,
                              tally.score.right,
                              tally.score.sequences.all,
                              tally.score.sequences.exact,
                              static_cast<int64_t>(tally.score.by_length.size())};
  for (const auto& [length, sequences] : tally.score.by_length) {
    counts.insert(counts.end(), {length, sequences.all, sequences.exact});
  }
  std::string bytes(reinterpret_cast<const char*>(counts.data()), counts.size() * sizeof(int64_t));
  bytes.append(reinterpret_cast<const char*>(tally.losses.data()),
               tally.losses.size() * sizeof(double));
  return bytes;
}

void add(const std::string& bytes, Tally& sum) {
  size_t at = 0;
  const auto next = [&](auto number) {
    bytes.copy(reinterpret_cast<char*>(&number), sizeof number, at);
    at += sizeof number;
    return number;
  };
  for (int64_t* count : {&sum.counted, &sum.bytes, &sum.score.targets, &sum.score.right,
                         &sum.score.sequences.all, &sum.score.sequences.exact}) {
    *count += next(int64_t{});
  }
  for (int64_t lengths = next(int64_t{}); lengths > 0; --lengths) {
    Score::Sequences& of_length = sum.score.by_length[next(int64_t{})];
    of_length.all += next(int64_t{});
    of_length.exact += next(int64_t{});
  }
  while (at < bytes.size()) sum.losses.push_back(next(double{}));
}

}  // namespace

double Tally::loss() const { return std::accumulate(losses.begin(), losses.end(), 0.0); }

Tally sum_of_all(Communicator& ranks, Tally own) {
  if (ranks.size() == 1) {
    return own;
  }
  Tally sum;
  for (const std::string& of_rank : gather_all(ranks, to_bytes(own))) {
    add(of_rank, sum);
  }
  return sum;
}

}  // namespace heed
