// What a trained model writes when it is asked something.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "layers/module/input.h"
#include "train/data/generate.h"
#include "train/tokenizers/tokenizer.h"

namespace heed {

// Options for answering a prompt (Task::answer). Tasks with a single correct answer decode greedily
// and ignore `tokens` and `sampling`.
struct AnswerOptions {
  int64_t tokens = 200;
  SamplingOptions sampling = {};
  int64_t context_length = 0;                         // of the model
  std::function<void(const std::string&)> each = {};  // called with each new piece of text
  std::function<bool()> stop = {};  // asked before each token; true ends the answer there

  void say(const std::string& text) const {
    if (each && !text.empty()) {
      each(text);
    }
  }
};

// A trained model's answer to a prompt.
struct Answer {
  std::string text;
  Input shown;  // batch of one: the model's last input; its attention explains the answer
};

// Continuations of a prompt, by options with the same lengths, written in step (generate.h).
std::vector<Answer> continued(Module& model, const Tokenizer& tokenizer, const std::string& prompt,
                              std::span<const AnswerOptions> options);

}  // namespace heed
