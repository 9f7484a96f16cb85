#include "train/extras/toy_tasks/made_examples.h"

#include <algorithm>
#include <map>
#include <set>

#include "autograd/base/modes.h"
#include "train/files/human_readable.h"

namespace heed {

int64_t tenth_of(double questions) {
  return static_cast<int64_t>(std::clamp<double>(questions / 10, 1, double{most_held_out}));
}

int32_t draw_below(Generator& generator, size_t n) {
  return static_cast<int32_t>(generator.random32() % n);
}

Question draw_symbols(Generator& generator, int64_t length, int64_t symbols) {
  Question drawn(static_cast<size_t>(length));
  std::generate(drawn.begin(), drawn.end(),
                [&] { return draw_below(generator, static_cast<size_t>(symbols)); });
  return drawn;
}

Batch batch_of_rows(std::span<const Question> questions, int64_t length, const WriteRow& write) {
  const Shape shape{std::ssize(questions), length};
  Batch batch{Input(Ids::zeros(shape)), Ids::full(shape, ignored_target)};
  const auto width = static_cast<size_t>(length);
  for (size_t i = 0; i < questions.size() && !dry_run(); ++i) {
    write(questions[i], {batch.input.ids.mutable_data() + i * width, width},
          {batch.targets.mutable_data() + i * width, width});
  }
  return batch;
}

std::string made_as_needed(const std::string& what, const Dataset& examples) {
  return text(what, ", made as they are needed; ",
              grouped(examples.example_count(Split::validation)), " held out");
}

MadeExamples::MadeExamples(Maker maker, uint64_t seed, const HeldOut& which)
    : maker_(std::move(maker)) {
  Generator generator(seed);
  // held_out_ is still empty, so `false` accepts any question.
  held_out_ = different(which.count, generator, false, which.most);
  held_out_.insert(held_out_.end(), which.always.begin(), which.always.end());
  std::sort(held_out_.begin(), held_out_.end());
  held_out_.erase(std::unique(held_out_.begin(), held_out_.end()), held_out_.end());
  sample_ = different(which.count, generator, false);
}

MadeExamples::MadeExamples(Maker maker, uint64_t seed, IsHeldOut is_held_out, int64_t count)
    : maker_(std::move(maker)), rule_(std::move(is_held_out)) {
  Generator generator(seed);
  held_out_ = different(count, generator, true);
  sample_ = different(count, generator, false);
}

MadeExamples::MadeExamples(Maker maker, uint64_t seed, std::vector<Question> these, int64_t others)
    : maker_(std::move(maker)), held_out_(std::move(these)), trained_on_(others) {
  Generator generator(seed);
  std::sort(held_out_.begin(), held_out_.end());
  sample_ = different(std::min(others, most_held_out), generator, false);
}

bool MadeExamples::is_held_out(const Question& question) const {
  return rule_ ? rule_(question) : std::binary_search(held_out_.begin(), held_out_.end(), question);
}

Question MadeExamples::draw_for_training(Generator& generator) const {
  Question question;
  do {
    question = maker_.draw(generator);
  } while (is_held_out(question));
  return question;
}

std::vector<Question> MadeExamples::different(int64_t count, Generator& generator, bool held_out,
                                              const HeldOut::MostOfLength& most) const {
  std::set<Question> found;
  std::map<size_t, int64_t> of_length;
  while (static_cast<int64_t>(found.size()) < count) {
    Question question = maker_.draw(generator);
    const size_t length = question.size();
    const bool full = most && of_length[length] >= most(length);
    if (!full && is_held_out(question) == held_out) {
      of_length[length] += found.insert(std::move(question)).second ? 1 : 0;
    }
  }
  return {found.begin(), found.end()};
}

Batch MadeExamples::next(int64_t batch_size, Generator& data) {
  std::vector<Question> questions(static_cast<size_t>(batch_size));
  if (!dry_run()) {
    std::generate(questions.begin(), questions.end(), [&] { return draw_for_training(data); });
  }
  return maker_.batch(questions);
}

int64_t MadeExamples::example_count(Split split) const {
  return static_cast<int64_t>(questions(split).size());
}

Batch MadeExamples::examples(Split split, const std::vector<int64_t>& which) const {
  require_examples(which, example_count(split));
  std::vector<Question> chosen;
  for (const int64_t example : which) {
    chosen.push_back(questions(split)[static_cast<size_t>(example)]);
  }
  return maker_.batch(chosen);
}

}  // namespace heed
