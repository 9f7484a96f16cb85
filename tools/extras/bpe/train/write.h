// Writes a tokenizer as tokenizer.json, which Hugging Face's tokenizers read as well.
#pragma once

#include <string>

#include "tools/extras/bpe/train/model.h"

namespace heed {

// Reading the text back (read_json.h) gives the same model. The same model gives the same bytes.
// One key is ours, "heedgrad": how tiktoken's merges are ranked, which the format has no word for.
std::string bpe_to_json(const BpeModel& model);

}  // namespace heed
