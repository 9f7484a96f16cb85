#include "tools/extras/fine_tuning/train/conversation.h"

#include <algorithm>
#include <numeric>

#include "autograd/base/rethrow.h"
#include "tools/extras/fine_tuning/train/instructions_task.h"
#include "tools/extras/fine_tuning/train/written.h"

namespace heed {

namespace {

const InstructionsTask* instructions(const Task& task) {
  return dynamic_cast<const InstructionsTask*>(&task);
}

bool can_encode(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<int32_t> ids;
  error_of<ConfigError>([&] { ids = tokenizer.encode(text); });
  return !ids.empty();
}

}  // namespace

bool Conversation::is_about_instructions() const { return instructions(task_) != nullptr; }

int64_t Conversation::tokens_before(size_t from) const {
  return std::accumulate(said_.begin() + static_cast<ptrdiff_t>(from), said_.end(), int64_t{0},
                         [](int64_t sum, const Exchange& one) { return sum + one.tokens; });
}

std::string Conversation::text_with(const std::string& question, size_t from) const {
  const char* const between = can_encode(*task_.tokenizer(), "\n") ? "\n" : "";
  std::string whole;
  for (size_t i = from; i < said_.size(); ++i) whole += said_[i].text + between;
  return whole + question;
}

bool Conversation::ask(const std::string& question, int64_t tokens) {
  task_.check_prompt(question);
  open_ = {.question = question};
  const InstructionsTask* const task = instructions(task_);
  int64_t needed = 0;
  if (task != nullptr) {
    open_.ids = task->question_of(question);
    needed = std::ssize(open_.ids) + std::min(tokens, task->longest_answer() + 1);
  } else if (task_.continues_prompt()) {
    needed = std::ssize(task_.tokenizer()->encode(question));
  }
  first_seen_ = std::max(first_seen_, said_.size() - std::min(keep_, said_.size()));
  const auto is_full = [&](size_t from) {
    return from < said_.size() && tokens_before(from) + needed > context_length_;
  };
  const bool full = is_full(first_seen_);
  // Instructions leave as a whole; of a text, the end of the oldest one stays.
  while (is_full(first_seen_ + (task != nullptr ? 0 : 1))) ++first_seen_;
  return full;
}

const Conversation::Exchange& Conversation::answer(const AnswerOptions& options) {
  if (const InstructionsTask* const task = instructions(task_)) {
    std::vector<int32_t> seen;
    for (size_t i = first_seen_; i < said_.size(); ++i) {
      seen.insert(seen.end(), said_[i].ids.begin(), said_[i].ids.end());
    }
    seen.insert(seen.end(), open_.ids.begin(), open_.ids.end());
    const Written written =
        write_until(model_, *task_.tokenizer(), seen, *task->end_token(), options);
    open_.answer = written.text;
    open_.ids.insert(open_.ids.end(), written.ids.begin(), written.ids.end());
    open_.ids.push_back(*task->end_token());
    open_.tokens = std::ssize(open_.ids);
  } else {
    const std::string prompt =
        task_.continues_prompt() ? text_with(open_.question, first_seen_) : open_.question;
    open_.answer = task_.answer(model_, prompt, options).text;
    if (task_.continues_prompt()) {
      open_.text = open_.question + open_.answer;
      open_.tokens = std::ssize(task_.tokenizer()->encode(open_.text)) + 1;
    }
  }
  said_.push_back(std::move(open_));
  return said_.back();
}

void Conversation::forget() {
  said_.clear();
  first_seen_ = 0;
}

}  // namespace heed
