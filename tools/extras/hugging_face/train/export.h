// Writes a model as transformers' from_pretrained() reads it.
#pragma once

#include <filesystem>
#include <optional>

#include "tools/extras/hugging_face/train/architecture.h"
#include "train/files/safetensors.h"
#include "train/tokenizers/tokenizer.h"

namespace heed {

struct ExportJob {
  const Gpt& model;            // without an obstacle (architecture.h)
  const ConfigNode& own;       // its config as heed writes it
  const Tokenizer* tokenizer;  // or null
  Dtype dtype;                 // F32 or BF16
  // The tokens that end a text, and that before each; by default the <|endoftext|> of the tokenizer
  // and none.
  std::vector<int64_t> ends = {};
  std::optional<int32_t> begin = {};
  std::string chat_template = {};  // in Jinja; "": none
};

// A tensor to be stored as F32 or BF16.
TensorView narrowed(std::string name, const Array& values, Dtype dtype);

// Writes config.json, model.safetensors, generation_config.json, the template and, for a tokenizer
// that has files, tokenizer.json and tokenizer_config.json. Returns whether it has.
bool write_hugging_face(const std::filesystem::path& folder, const ExportJob& job);

}  // namespace heed
