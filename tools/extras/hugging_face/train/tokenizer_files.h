// The tokenizer of a run in the files that transformers' AutoTokenizer reads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/extras/bpe/train/model.h"
#include "train/tokenizers/tokenizer.h"

namespace heed {

struct TokenizerFiles {
  std::map<std::string, std::string> texts;  // by file name; none for a tokenizer that has no file
  std::optional<int32_t> end_of_text;        // the token that ends a text, if the tokenizer has one
};

// Byte pair encodings as they are. Characters and bytes are written as byte pair encodings without
// merges, whose ids are the same. The marks of a task are special tokens. context_length: of the
// model; begin: a token before each text; end: that ends one, by default <|endoftext|>.
TokenizerFiles tokenizer_files(const Tokenizer& tokenizer, int64_t context_length,
                               std::optional<int32_t> begin, std::optional<int32_t> end);

// What a folder of transformers says about its tokens beside tokenizer.json, from which `model` is,
// and what that has otherwise. heed follows tokenizer.json alone. A line for each key.
std::vector<std::string> said_otherwise(const std::filesystem::path& folder, const BpeModel& model);

// Names the ids from the end of the vocabulary to vocab_size: models are often a little larger than
// their tokenizers. Returns how many.
int64_t pad_vocabulary(BpeModel& model, int64_t vocab_size);

}  // namespace heed
