#include "train/wings/made/made_task.h"

#include <algorithm>
#include <map>
#include <set>

#include "autograd/base/modes.h"
#include "layers/module/evaluation_mode.h"
#include "train/data/generate.h"
#include "train/files/number_words.h"

namespace heed {

int64_t tenth_of(double questions) {
  return static_cast<int64_t>(std::clamp<double>(questions / 10, 1, double{most_held_out}));
}

int32_t draw_below(Generator& generator, size_t n) {
  return static_cast<int32_t>(generator.random32() % n);
}

std::string MadeTask::described(const std::string& what) const {
  return text(what, ", made as they are needed; ", grouped(example_count(Split::validation)),
              " held out");
}

bool MadeTask::is_held_out(const Question& question) const {
  return std::binary_search(held_out_.begin(), held_out_.end(), question);
}

MadeTask::Question MadeTask::draw_for_training(Generator& generator) const {
  Question question;
  do {
    question = draw(generator);
  } while (is_held_out(question));
  return question;
}

std::vector<MadeTask::Question> MadeTask::different(int64_t count, Generator& generator,
                                                    bool held_out, const MostOfLength& most) const {
  std::set<Question> found;
  std::map<size_t, int64_t> of_length;
  while (static_cast<int64_t>(found.size()) < count) {
    Question question = draw(generator);
    const size_t length = question.size();
    const bool full = most && of_length[length] >= most(length);
    if (!full && is_held_out(question) == held_out) {
      of_length[length] += found.insert(std::move(question)).second ? 1 : 0;
    }
  }
  return {found.begin(), found.end()};
}

void MadeTask::hold_out_some(uint64_t seed, const HeldOut& which) {
  Generator generator(seed);
  // held_out_ is still empty, so `false` accepts any question.
  held_out_ = different(which.count, generator, false, which.most);
  held_out_.insert(held_out_.end(), which.always.begin(), which.always.end());
  std::sort(held_out_.begin(), held_out_.end());
  held_out_.erase(std::unique(held_out_.begin(), held_out_.end()), held_out_.end());
  sample_ = different(which.count, generator, false);
}

void MadeTask::hold_out_by_rule(uint64_t seed, int64_t count) {
  Generator generator(seed);
  held_out_ = different(count, generator, true);
  sample_ = different(count, generator, false);
}

void MadeTask::hold_out_these(uint64_t seed, std::vector<Question> questions, int64_t sampled) {
  Generator generator(seed);
  held_out_ = std::move(questions);
  std::sort(held_out_.begin(), held_out_.end());
  sample_ = different(sampled, generator, false);
}

Batch MadeTask::next(int64_t batch_size, Generator& data) {
  std::vector<Question> questions(static_cast<size_t>(batch_size));
  if (!dry_run()) {
    std::generate(questions.begin(), questions.end(), [&] { return draw_for_training(data); });
  }
  return batch(questions);
}

int64_t MadeTask::example_count(Split split) const {
  return static_cast<int64_t>(questions(split).size());
}

Batch MadeTask::examples(Split split, const std::vector<int64_t>& which) const {
  require_examples(which, example_count(split));
  std::vector<Question> chosen;
  for (const int64_t example : which) {
    chosen.push_back(questions(split)[static_cast<size_t>(example)]);
  }
  return batch(chosen);
}

std::vector<int32_t> MadeTask::question_of(const std::string& prompt) const {
  Task::check_prompt(prompt);
  return tokenizer()->encode(prompt);
}

Answer MadeTask::reply(Module& model, const std::vector<int32_t>& asked,
                       const AnswerOptions&) const {
  Answer answer{.text = {}, .shown = Ids::from({1, std::ssize(asked)}, asked)};
  answer.text = tokenizer()->name(likeliest(model(answer.shown).value()));
  return answer;
}

Answer MadeTask::answer(Module& model, const std::string& prompt,
                        const AnswerOptions& options) const {
  if (continues_prompt()) {
    return Task::answer(model, prompt, options);
  }
  const std::vector<int32_t> asked = question_of(prompt);
  const EvaluationMode evaluating(model);
  Answer answer = reply(model, asked, options);
  options.say(answer.text);
  return answer;
}

}  // namespace heed
