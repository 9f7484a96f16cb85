// The tokenizer.json of Hugging Face's tokenizers.
#pragma once

#include <string>
#include <string_view>

#include "tools/extras/bpe/train/model.h"

namespace heed {

// A tokenizer.json with a BPE model over bytes, the pre-tokenizers ByteLevel, Split, Digits and
// Sequences of them, and added tokens. What would change ids and is none of these (a normalizer,
// byte_fallback, dropout) is refused by name. Post-processors and decoders are ignored. Throws
// IoError, beginning with `where`, that names the key.
BpeModel bpe_from_json(std::string_view text, const std::string& where);

}  // namespace heed
