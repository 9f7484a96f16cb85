// What a model writes after some tokens, as text.
#pragma once

#include <string>
#include <vector>

#include "train/data/answer.h"
#include "train/tokenizers/tokenizer.h"

namespace heed {

struct Written {
  std::vector<int32_t> ids;  // without the end token
  std::string text;
};

// Lets a model write until the token `end`, up to options.tokens tokens; options.each gets the text
// as it comes. It goes on from `before`, the text of the prompt, or stands alone.
Written write_until(Module& model, const Tokenizer& tokenizer, const std::vector<int32_t>& prompt,
                    int32_t end, const AnswerOptions& options, const std::string& before = "");

}  // namespace heed
