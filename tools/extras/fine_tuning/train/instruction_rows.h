// Files of instructions: a list of JSON objects, or an object each line.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tools/extras/fine_tuning/train/prompt_template.h"
#include "tools/extras/own_data/train/split_rows.h"

namespace heed {

// The rows of a file *.json or *.jsonl, which begins with [ if it is a list. The cells of a row are
// its instruction and input in the template, and its output. Throws RowError with all mistakes,
// ConfigError for another extension.
TextRows read_instructions(std::string_view bytes, const std::filesystem::path& path,
                           const PromptTemplate& form);

// What a user asks: an instruction or, if it begins with {", a row without its output,
// {"instruction": "...", "input": "..."}. Throws ConfigError.
Instruction read_prompt(const std::string& prompt, const PromptTemplate& form);

}  // namespace heed
