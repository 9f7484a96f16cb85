// JSON files of a Hugging Face folder as trees. They are hostile until checked: size, depth and
// number of keys are limited before anything is made of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "layers/config/node.h"

namespace heed {

namespace json_limits {
inline constexpr int64_t config_bytes = 1'000'000;
inline constexpr int64_t index_bytes = 20'000'000;
inline constexpr int depth = 10;                // levels of brackets
inline constexpr size_t entries = 1000;         // keys of an object, elements of a list
inline constexpr size_t added_tokens = 20'000;  // the same, of files about tokens
}  // namespace json_limits

// Text becomes scalars that are quoted where YAML would need it; null is `~`. Throws IoError, which
// begins with `where`, for what is no JSON or exceeds json_limits.
ConfigNode parse_json(std::string_view text, const std::string& where,
                      size_t entries = json_limits::entries);
ConfigNode read_json(const std::filesystem::path& path);
// The same of a file about tokens, which may have many; absent if it is not there.
ConfigNode read_tokenizer_json(const std::filesystem::path& path);

// The reverse, indented by two blanks. Of two trees that are equal, the same bytes.
std::string json_text(const ConfigNode& node);

// {"weight_map": {"name of a tensor": "name of a file"}}, the index of weights in several files.
// Throws IoError; also for a name of a file that could lead out of the folder.
std::map<std::string, std::string> parse_weight_map(std::string_view text,
                                                    const std::string& where);

}  // namespace heed
