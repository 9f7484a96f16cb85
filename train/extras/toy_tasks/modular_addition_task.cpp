#include "train/extras/toy_tasks/modular_addition_task.h"

#include <algorithm>
#include <cmath>

#include "autograd/random/fills.h"
#include "train/data/data_file.h"
#include "train/files/human_readable.h"

namespace heed {

namespace {

constexpr int64_t sum_places = 3;   // a, b, "="
constexpr int64_t most_tries = 50;  // on average, until a sum comes up that is not held out

}  // namespace

void ModularAdditionTask::Config::fields(Fields& f) {
  f.optional("modulus", modulus, in_range(2, 1000), "sums begin again at 0 here");
  f.optional("train_fraction", train_fraction, in_range(0, 1, Bound::open, Bound::open),
             "part of the table that is trained on; the rest is for validation");
}

ModularAdditionTask::ModularAdditionTask(const Config& c, const TaskSetup& setup)
    : modulus_(c.modulus), tokenizer_(with_marks(numbers_below(c.modulus), {"="})) {
  const int64_t sums = c.modulus * c.modulus;
  const int64_t trained_on = std::clamp<int64_t>(
      static_cast<int64_t>(std::floor(c.train_fraction * static_cast<double>(sums))), 1, sums - 1);
  Generator generator(setup.seed);
  const std::vector<int64_t> order = randperm(generator, sums);
  const auto questions = [&](int64_t begin, int64_t end) {
    std::vector<Question> found;
    for (auto sum = order.begin() + begin; sum != order.begin() + end; ++sum) {
      found.push_back(
          {static_cast<int32_t>(*sum / modulus_), static_cast<int32_t>(*sum % modulus_)});
    }
    return found;
  };
  if (trained_on < sums / most_tries) {
    few_ = questions(0, trained_on);
  }
  data_ =
      std::make_unique<MadeExamples>(*this, setup.seed, questions(trained_on, sums), trained_on);
}

Question ModularAdditionTask::draw(Generator& generator) const {
  if (!few_.empty()) {
    return few_[static_cast<size_t>(draw_below(generator, few_.size()))];
  }
  std::vector<int64_t> drawn(2);
  fill_randint(generator, drawn, 0, modulus_);
  return {drawn.begin(), drawn.end()};
}

Batch ModularAdditionTask::batch(std::span<const Question> questions) const {
  return batch_of_rows(
      questions, sum_places,
      [this](const Question& terms, std::span<int32_t> ids, std::span<int32_t> targets) {
        ids[0] = terms[0], ids[1] = terms[1], ids[2] = static_cast<int32_t>(modulus_);
        targets[2] = static_cast<int32_t>((terms[0] + terms[1]) % modulus_);
      });
}

std::vector<int32_t> ModularAdditionTask::question_of(const std::string& prompt) const {
  std::string numbers = prompt;
  std::erase(numbers, '=');
  std::replace(numbers.begin(), numbers.end(), '+', ' ');
  std::vector<int32_t> asked = tokenizer_.encode(numbers);
  require<ConfigError>(asked.size() == 2, "expected two numbers from 0 to ", modulus_ - 1,
                       ", \"12 + 85\", got ", asked.size());
  asked.push_back(static_cast<int32_t>(modulus_));
  return asked;
}

std::string ModularAdditionTask::description() const {
  return text("modular_addition: ", grouped(data().training_tokens()), " of the ",
              grouped(modulus_ * modulus_), " sums modulo ", modulus_, "; the other ",
              grouped(data().example_count(Split::validation)), " are held out");
}

}  // namespace heed
