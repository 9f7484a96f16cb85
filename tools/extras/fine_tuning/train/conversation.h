// Questions to a model and its answers, with what was said before in the model's context.
#pragma once

#include <string>
#include <vector>

#include "train/data/task.h"

namespace heed {

class InstructionsTask;

class Conversation {
 public:
  // keep: how many exchanges before the question the model sees, as far as its context has room.
  Conversation(const Task& task, Module& model, int64_t context_length, size_t keep)
      : task_(task), model_(model), context_length_(context_length), keep_(keep) {}

  struct Exchange {
    std::string question, answer;
    // As the model read and wrote it: tokens of an InstructionsTask, else a text.
    std::vector<int32_t> ids = {};
    std::string text = {};
    int64_t tokens = 0;
  };

  // Whether the task is an InstructionsTask.
  bool is_about_instructions() const;
  // Takes a question, for which the oldest exchanges leave the context until an answer of
  // `tokens` tokens has room. Returns whether any has. Throws ConfigError for a question that the
  // model cannot take.
  bool ask(const std::string& question, int64_t tokens);
  // The answer to it. One that options.stop ends is kept as far as it got.
  const Exchange& answer(const AnswerOptions& options);

  // Forgets all that was said, for the model and in said().
  void forget();
  const std::vector<Exchange>& said() const { return said_; }

 private:
  // Of a task that continues texts: those that the model sees, with the question at the end.
  std::string text_with(const std::string& question, size_t from) const;
  int64_t tokens_before(size_t from) const;

  const Task& task_;
  Module& model_;
  const int64_t context_length_;
  const size_t keep_;
  std::vector<Exchange> said_;
  size_t first_seen_ = 0;  // in said_: those before have left the context
  Exchange open_;
};

}  // namespace heed
