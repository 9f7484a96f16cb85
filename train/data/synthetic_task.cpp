#include "train/data/synthetic_task.h"

#include "autograd/random/fills.h"
#include "train/files/human_readable.h"

namespace heed {

namespace {

constexpr int64_t most_ids = int64_t{1} << 24;  // 16.8 million; each id takes one 32-bit word

TokenRow draw_tokens(const SyntheticTask::Config& c, uint64_t seed) {
  Generator generator(seed);
  TokenRow row(c.vocab_size);
  row.reserve(c.tokens);
  for (int64_t i = 0; i < c.tokens; ++i) {
    int64_t drawn = 0;
    fill_randint(generator, {&drawn, 1}, 0, c.vocab_size);
    const auto id = static_cast<int32_t>(drawn);
    row.append({&id, 1});
  }
  return row;
}

}  // namespace

void SyntheticTask::Config::fields(Fields& f) {
  f.required("vocab_size", vocab_size, in_range(1, most_ids), "different tokens there are")
      .example(7);
  f.optional("tokens", tokens, in_range(2, 10'000'000), "how many are drawn");
  windows.fields(f);
}

SyntheticTask::SyntheticTask(const Config& c, const TaskSetup& setup)
    : vocab_size_(c.vocab_size), tokens_(c.tokens) {
  data_ =
      std::make_unique<Windows>(draw_tokens(c, setup.seed), c.windows, setup.batch_size, "tokens");
}

std::string SyntheticTask::description() const {
  return text(grouped(tokens_), " tokens drawn at random out of ", grouped(vocab_size_));
}

}  // namespace heed
