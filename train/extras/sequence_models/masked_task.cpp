#include "train/extras/sequence_models/masked_task.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "autograd/base/modes.h"
#include "layers/text/display.h"
#include "train/data/generate.h"

namespace heed {

namespace {

// The windows of a text with gaps.
class MaskedExamples final : public Dataset {
 public:
  MaskedExamples(Dataset& windows, double mask_fraction, int32_t mask, uint64_t seed)
      : windows_(windows), mask_fraction_(mask_fraction), mask_(mask), seed_(seed) {}

  Batch next(int64_t batch_size, Generator& data) override {
    Batch batch = without_targets(windows_.next(batch_size, data));
    for (int64_t row = 0; row < batch.input.ids.dim(0) && !dry_run(); ++row) {
      hide(batch, row, data);
    }
    return batch;
  }
  std::vector<int64_t> position() const override { return windows_.position(); }
  void set_position(const std::vector<int64_t>& at) override { windows_.set_position(at); }
  int64_t example_count(Split split) const override { return windows_.example_count(split); }
  Batch examples(Split split, const std::vector<int64_t>& which) const override {
    Batch batch = without_targets(windows_.examples(split, which));
    for (int64_t row = 0; row < std::ssize(which) && !dry_run(); ++row) {
      const auto number = static_cast<uint64_t>(which[static_cast<size_t>(row)]);
      Generator generator(seed_ + 2 * number + (split == Split::train ? 0 : 1));
      hide(batch, row, generator);
    }
    return batch;
  }
  int64_t training_tokens() const override { return windows_.training_tokens(); }

 private:
  static Batch without_targets(Batch windows) {
    if (!dry_run()) {
      windows.targets = Ids::full(windows.targets.shape(), ignored_target);
    }
    return windows;
  }
  // Hides tokens in row `row` of windows (B, T), and writes its targets.
  void hide(Batch& batch, int64_t row, Generator& generator) const;

  Dataset& windows_;
  const double mask_fraction_;
  const int32_t mask_;
  const uint64_t seed_;
};

// BERT's create_pretraining_data.py has the same rule for how many are chosen.
void MaskedExamples::hide(Batch& batch, int64_t row, Generator& generator) const {
  const int64_t length = batch.input.ids.dim(1);
  int32_t* const ids = batch.input.ids.mutable_data() + row * length;
  int32_t* const targets = batch.targets.mutable_data() + row * length;
  const auto chosen =
      std::max<int64_t>(1, std::lround(mask_fraction_ * static_cast<double>(length)));
  std::vector<int64_t> places(static_cast<size_t>(length));
  std::iota(places.begin(), places.end(), int64_t{0});
  for (int64_t k = 0; k < chosen; ++k) {
    // The first `chosen` places of a random order of all.
    const int64_t other = k + generator.random32() % (length - k);
    std::swap(places[static_cast<size_t>(k)], places[static_cast<size_t>(other)]);
    const int64_t t = places[static_cast<size_t>(k)];
    targets[t] = ids[t];
    const double what = generator.u53();
    if (what < 0.8) {
      ids[t] = mask_;
    } else if (what < 0.9) {
      ids[t] = static_cast<int32_t>(generator.random32() % static_cast<uint32_t>(mask_));
    }
  }
}

}  // namespace

void MaskedTask::Config::fields(Fields& f) {
  text.fields(f);
  f.optional("mask_fraction", mask_fraction, in_range(0, 1, Bound::open),
             "share of the tokens that are targets, at least one of a window");
}

MaskedTask::MaskedTask(const Config& c, const TaskSetup& setup)
    : mask_fraction_(c.mask_fraction),
      context_length_(c.text.windows.context_length),
      text_(std::make_shared<TextTask>(c.text, setup)),
      tokenizer_(std::shared_ptr<const Tokenizer>(text_, text_->tokenizer()), {mask_word}) {
  data_ = std::make_unique<MaskedExamples>(text_->data(), mask_fraction_, tokenizer_.mark(0),
                                           setup.seed);
  fingerprint_ = text_->fingerprint();
}

std::string MaskedTask::description() const {
  return text(text_->description(), "; ", 100 * mask_fraction_, "% of them masked");
}

std::vector<int32_t> MaskedTask::question_of(const std::string& prompt) const {
  const std::string word = mask_word;
  std::vector<int32_t> ids;
  for (size_t begin = 0; begin <= prompt.size();) {
    const size_t gap = std::min(prompt.find(word, begin), prompt.size());
    const std::vector<int32_t> before = tokenizer_.encode(prompt.substr(begin, gap - begin));
    ids.insert(ids.end(), before.begin(), before.end());
    if (gap < prompt.size()) ids.push_back(tokenizer_.mark(0));
    begin = gap < prompt.size() ? gap + word.size() : prompt.size() + 1;
  }
  require<ConfigError>(std::count(ids.begin(), ids.end(), tokenizer_.mark(0)) > 0,
                       "expected a text with ", mask_word, " where a token is to be filled in, ",
                       "got ", printable(prompt, 80));
  require<ConfigError>(std::ssize(ids) <= context_length_, "expected at most data.context_length ",
                       context_length_, " ", tokenizer_.unit(), "s, got ", ids.size());
  return ids;
}

Answer MaskedTask::reply(Module& model, const std::vector<int32_t>& asked,
                         const AnswerOptions&) const {
  std::vector<int32_t> ids = asked;
  Answer answer{.text = {}, .shown = Ids::from({1, std::ssize(ids)}, ids)};
  const Array logits = model(answer.shown).value();  // (1, T, V)
  const auto width = static_cast<size_t>(logits.dim(-1));
  for (size_t t = 0; t < ids.size(); ++t) {
    if (ids[t] == tokenizer_.mark(0)) {
      // The last row is that of [MASK] itself.
      ids[t] = likeliest(logits.span().subspan(t * width, width - 1));
    }
  }
  answer.text = tokenizer_.decode(ids);
  return answer;
}

}  // namespace heed
