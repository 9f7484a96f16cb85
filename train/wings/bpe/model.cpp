#include "train/wings/bpe/model.h"

namespace heed {

// Contractions, words with the blank before them, numbers, other signs, and white space, whose last
// blank belongs to the word after it.
const char* const gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// The same with contractions in capitals, numbers of at most three digits, newlines apart.
const char* const gpt4_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

}  // namespace heed
