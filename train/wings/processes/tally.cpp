#include "train/wings/processes/tally.h"

#include <algorithm>
#include <bit>
#include <span>

namespace heed {

namespace {

// A tally as a row of 64-bit numbers: the counts, the sequences by length, the classes, the hardest
// examples, the losses.
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
  counts.push_back(std::ssize(tally.score.confusion));
  for (const std::vector<int64_t>& row : tally.score.confusion) {
    counts.insert(counts.end(), row.begin(), row.end());
  }
  counts.push_back(std::ssize(tally.score.hardest));
  for (const Score::HardExample& of : tally.score.hardest) {
    counts.insert(counts.end(), {of.example, std::bit_cast<int64_t>(of.loss)});
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
  const auto classes = static_cast<size_t>(next(int64_t{}));
  sum.score.confusion.resize(std::max(classes, sum.score.confusion.size()),
                             std::vector<int64_t>(classes, 0));
  for (size_t k = 0; k < classes; ++k) {
    for (int64_t& count : sum.score.confusion[k]) count += next(int64_t{});
  }
  for (int64_t examples = next(int64_t{}); examples > 0; --examples) {
    const auto example = next(int64_t{});
    sum.score.hardest.push_back({example, std::bit_cast<double>(next(int64_t{}))});
  }
  sum.score.keep_hardest();
  while (at < bytes.size()) sum.losses.push_back(next(double{}));
}

}  // namespace

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
