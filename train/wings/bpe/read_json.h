// The JSON files of tokenizers: tokenizer.json of Hugging Face's tokenizers, and vocab.json.
#pragma once

#include <string>
#include <string_view>

#include "train/wings/bpe/model.h"

namespace heed {

// A tokenizer.json with a BPE model over bytes, the pre-tokenizers ByteLevel, Split, Digits and
// Sequences of them, and added tokens. What would change ids and is none of these (a normalizer,
// byte_fallback, dropout) is refused by name. Post-processors and decoders are ignored. Throws
// IoError, beginning with `where`, that names the key.
BpeModel bpe_from_json(std::string_view text, const std::string& where);

// GPT-2's two files: {"token": id, ...}, and a line "left right" for each merge. The first line of
// the second may be a comment: "#version: 0.2". Throws IoError; that of the merges names the line.
BpeModel bpe_from_vocabulary(std::string_view json, const std::string& where,
                             std::string_view merges, const std::string& where_merges);

}  // namespace heed
