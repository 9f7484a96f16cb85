#include "train/extras/processes/tally.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace heed {

namespace {

// A tally as a row of 64-bit numbers: the counts, the sequences by length, the classes, the hardest
// examples, the losses.
std::string to_bytes(const Tally& tally) {
  const Score& score = tally.score;
  std::string bytes;
  const auto put = [&](std::initializer_list<int64_t> counts) {
    for (const int64_t count : counts) append_number(count, bytes);
  };
  put({tally.counted, tally.bytes, score.targets, score.right, score.sequences.all,
       score.sequences.exact, static_cast<int64_t>(score.by_length.size())});
  for (const auto& [length, sequences] : score.by_length) {
    put({length, sequences.all, sequences.exact});
  }
  put({std::ssize(score.confusion)});
  for (const std::vector<int64_t>& row : score.confusion) {
    for (const int64_t count : row) append_number(count, bytes);
  }
  put({std::ssize(score.hardest)});
  for (const Score::HardExample& of : score.hardest) {
    append_number(of.example, bytes);
    append_number(of.loss, bytes);
  }
  for (const double loss : tally.losses) append_number(loss, bytes);
  return bytes;
}

void add(std::string_view bytes, Tally& sum) {
  const auto next = [&] { return next_number<int64_t>(bytes); };
  for (int64_t* count : {&sum.counted, &sum.bytes, &sum.score.targets, &sum.score.right,
                         &sum.score.sequences.all, &sum.score.sequences.exact}) {
    *count += next();
  }
  for (int64_t lengths = next(); lengths > 0; --lengths) {
    Score::Sequences& of_length = sum.score.by_length[next()];
    of_length.all += next();
    of_length.exact += next();
  }
  const auto classes = static_cast<size_t>(next());
  sum.score.confusion.resize(std::max(classes, sum.score.confusion.size()),
                             std::vector<int64_t>(classes, 0));
  for (size_t k = 0; k < classes; ++k) {
    for (int64_t& count : sum.score.confusion[k]) count += next();
  }
  for (int64_t examples = next(); examples > 0; --examples) {
    sum.score.hardest.push_back({next(), next_number<double>(bytes)});
  }
  sum.score.keep_hardest();
  while (!bytes.empty()) sum.losses.push_back(next_number<double>(bytes));
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
