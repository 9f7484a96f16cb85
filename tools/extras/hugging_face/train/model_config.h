// config.json as the config of a gpt, and the reverse.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/extras/hugging_face/train/architecture.h"

namespace heed {

struct ImportedModel {
  const Architecture* architecture = nullptr;
  ConfigNode model;  // {type: gpt, ...}
};

// Reads a config.json (json.h). `where` begins messages. Throws ConfigError for a model that heed
// does not have, with the key and its value; IoError for a key that is missing or makes no sense.
// Keys without effect on the logits are ignored, unknown ones refused. Ranges that config.json does
// not break alone, such as a width that the heads do not divide, are left to the gpt.
ImportedModel model_of_json(const ConfigNode& json, const std::string& where);

// In a folder of transformers, and in the checkpoint of a model that was imported: how transformers
// asks it, in Jinja.
inline constexpr const char* stored_chat_template = "chat_template.jinja";

// How transformers asks a model.
struct Generation {
  std::vector<int64_t> ends;       // ids of the tokens that end a text: sample.end of a run
  std::string chat_template;       // in Jinja; or ""
  bool special_tokens = false;     // whether prompts have to contain them
  std::vector<std::string> notes;  // for the user: what heed leaves out, by its key
};
inline constexpr const char* adds_none = "heed adds no token to a prompt; write it there";
// Reads generation_config.json, or config.json if there is none, and tokenizer_config.json.
Generation read_generation(const std::filesystem::path& folder);

// Why a folder of the architecture would not be the same model, beginning with the field; "" if it
// is. That is an obstacle (architecture.h), or a difference (fine_tuning/source.h) from what
// is read of its config.json: what nobody writes is refused.
std::string export_obstacle(const Architecture& architecture, const Gpt& model);

// The config.json of a model that its architecture can hold (architecture.h). The key "heedgrad"
// has `own`, the model's config as heed writes it: it says what the architecture has no word for.
ConfigNode json_of_model(const Architecture& architecture, const Gpt& model, const ConfigNode& own);

// The config under "heedgrad", if the rest of the file is still the same model; else absent.
ConfigNode own_model_of_json(const ConfigNode& json);

}  // namespace heed
