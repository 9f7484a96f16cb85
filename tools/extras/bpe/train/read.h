// Reads tokenizer files. They are hostile until checked: nothing in them takes more memory than a
// small multiple of the file. Every mistake is an IoError with the file, the key, what was expected
// and what came.
#pragma once

#include <cstdint>
#include <filesystem>

#include "tools/extras/bpe/train/model.h"

namespace heed {

inline constexpr int64_t most_tokenizer_bytes = 100'000'000;

// The tokenizer.json (read_json.h) of a byte-level BPE tokenizer. In place of two other formats,
// *.tiktoken and GPT-2's *vocab.json next to *merges.txt (or *encoder.json and *vocab.bpe), the
// message has the lines of Python that convert them.
BpeModel read_bpe(const std::filesystem::path& path);

// The tokenizer file of a folder: tokenizer.json, or one that read_bpe refuses with the way to
// convert it. "" if there is neither.
std::filesystem::path find_tokenizer(const std::filesystem::path& folder);

}  // namespace heed
