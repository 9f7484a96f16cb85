// What a user types to a trained model, and what the model writes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "layers/module/module.h"
#include "train/data/generate.h"
#include "train/tokenizers/tokenizer.h"

namespace heed {

// Options for answering a prompt (TextInterface::answer). Tasks with a single correct answer decode
// greedily and ignore `tokens` and `sampling`.
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

class TextInterface {
 public:
  virtual ~TextInterface() = default;

  // The tokenizer of the model's ids; null for tasks without text.
  virtual const Tokenizer* tokenizer() const { return nullptr; }
  // The tokenizer of its source_ids.
  virtual const Tokenizer* source_tokenizer() const { return nullptr; }
  // The names of a classifier's classes, as a checkpoint keeps them (vocabulary.h); "": none.
  std::string classes() const;
  // A readable name for a target. Default: that of the class or token; without these, its number.
  virtual std::string target_name(int32_t target) const;
  // Throws ConfigError for a prompt that cannot be answered. This and the following functions
  // require a tokenizer. By default a prompt needs at least one token, and all of them must be
  // known.
  virtual void check_prompt(const std::string& prompt) const;
  // Its message; "" for one that can be.
  std::string mistake_in_prompt(const std::string& prompt) const;
  // True if the answer continues the prompt, false if it is a separate text.
  virtual bool continues_prompt() const { return true; }
  // By default, samples a continuation of the prompt. A character that ends in it before its last
  // byte is not complete: `each` gets it with the continuation.
  virtual Answer answer(Module& model, const std::string& prompt,
                        const AnswerOptions& options) const;

 protected:
  std::vector<std::string> class_names_;  // of a classifier, by target
};

// The name of a token; its number without a tokenizer.
std::string token_name(const Tokenizer* tokenizer, int32_t id);

// What a checkpoint keeps of the tokenizers, by the name of the file.
std::map<std::string, std::string> stored_tokenizers(const TextInterface& text);

}  // namespace heed
