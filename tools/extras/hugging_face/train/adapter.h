// Folders of peft: adapter_config.json and adapter_model.safetensors, what LoRA has learned on a
// model of transformers. https://huggingface.co/docs/peft, "Adapter format".
//   base_model.model.<layer>.lora_A.weight (r, in), .lora_B.weight (out, r)
// Where a layer of theirs is several of ours, as GPT-2's c_attn, it has the A of all of them one
// below the other, and in B a block of columns for each.
#pragma once

#include <filesystem>

#include "tools/extras/hugging_face/train/architecture.h"
#include "train/files/safetensors.h"

namespace heed {

struct AdapterExport {
  const ConfigNode& lora;      // train.lora of the run, resolved
  const SafeTensors& learned;  // <layer>.lora.A and .B
  const Gpt& model;            // merged; without an obstacle (architecture.h)
  std::string base;            // the folder of the base, or ""
};

// Writes the folder's two files. Returns how many numbers they have.
int64_t write_adapter(const std::filesystem::path& folder, const AdapterExport& job);

// True if the folder has an adapter_config.json.
bool is_adapter(const std::filesystem::path& folder);
// base_model_name_or_path of such a folder, or "".
std::string base_of_adapter(const std::filesystem::path& folder);

// Adds scale * B A to the weights of the base. Throws IoError for files that are damaged or do not
// fit, ConfigError for what is no plain LoRA; the model is then unchanged.
void merge_adapter_folder(const std::filesystem::path& folder, const Architecture& architecture,
                          Gpt& model);

}  // namespace heed
