// Reads tokenizer files, in three formats. They are hostile until checked: nothing in them takes
// more memory than a small multiple of the file. Every mistake is an IoError with the file, the
// line or key, what was expected and what came.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "train/wings/bpe/model.h"

namespace heed {

inline constexpr int64_t most_tokenizer_bytes = 100'000'000;

// The file of a byte-level BPE tokenizer:
//   *.tiktoken            tokens in base64 with their ranks. The file's name gives the pattern:
//                         GPT-2's for r50k and p50k, GPT-4o's for o200k, GPT-4's for all others;
//                         OpenAI's files also have their special tokens
//   *vocab.json           next to *merges.txt: GPT-2's format and its pattern; also called
//                         *encoder.json and *vocab.bpe. Either of the two may be named
//   any other             a tokenizer.json (read_json.h)
BpeModel read_bpe(const std::filesystem::path& path);

// The contents of a .tiktoken file; `name` is that of the file, `where` begins messages.
BpeModel bpe_from_tiktoken(std::string_view text, const std::string& where,
                           const std::string& name);

}  // namespace heed
