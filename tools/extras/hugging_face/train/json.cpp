#include "tools/extras/hugging_face/train/json.h"

#include <nlohmann/json.hpp>

#include "autograd/base/error.h"
#include "layers/text/display.h"
#include "train/files/files.h"
#include "train/files/safetensors.h"
#include "train/files/strict_json.h"

namespace heed {

namespace {

using nlohmann::ordered_json;

ConfigNode node_of(const ordered_json& value) {
  if (value.is_object()) {
    ConfigNode map = ConfigNode::map();
    for (const auto& [key, child] : value.items()) map.set(key, node_of(child));
    return map;
  }
  if (value.is_array()) {
    ConfigNode list = ConfigNode::list();
    for (const ordered_json& child : value) list.append(node_of(child));
    return list;
  }
  return value.is_string() ? ConfigNode(value.get<std::string>())
                           : ConfigNode::scalar(value.dump(), /*quoted=*/false);
}

ordered_json value_of(const ConfigNode& node) {
  if (node.is_map()) {
    ordered_json object = ordered_json::object();
    for (const ConfigNode& child : node.children()) object[child.key()] = value_of(child);
    return object;
  }
  if (node.is_list()) {
    ordered_json list = ordered_json::array();
    for (const ConfigNode& child : node.children()) list.push_back(value_of(child));
    return list;
  }
  if (node.is_null()) return {};
  if (!node.quoted()) {
    const ordered_json value = ordered_json::parse(node.text(), nullptr, /*exceptions=*/false);
    if (value.is_number() || value.is_boolean()) return value;
  }
  return node.text();
}

}  // namespace

ConfigNode parse_json(std::string_view bytes, const std::string& where, size_t entries) {
  require_strict_json(bytes, where, {json_limits::depth, entries});
  const auto value = ordered_json::parse(bytes);
  require<IoError>(value.is_object(), where, ": expected an object {...}, got ", value.type_name());
  return node_of(value);
}

ConfigNode read_json(const std::filesystem::path& path) {
  return parse_json(read_file(path, json_limits::config_bytes), path.string());
}

ConfigNode read_tokenizer_json(const std::filesystem::path& path) {
  if (!is_there(path)) return {};
  return parse_json(read_file(path, json_limits::index_bytes), path.string(),
                    json_limits::added_tokens);
}

std::string json_text(const ConfigNode& node) {
  return value_of(node).dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::map<std::string, std::string> parse_weight_map(std::string_view bytes,
                                                    const std::string& where) {
  // Without order: an ordered object searches all its keys for each that it gets.
  require_strict_json(bytes, where, {json_limits::depth});
  const auto value = nlohmann::json::parse(bytes);
  require<IoError>(value.is_object() && value.contains("weight_map") &&
                       value.at("weight_map").is_object() && !value.at("weight_map").empty(),
                   where, ": expected weight_map, an object {tensor: file}");
  const nlohmann::json& entries = value.at("weight_map");
  require<IoError>(entries.size() <= safetensors_limits::tensors, where,
                   ": weight_map: expected at most ", safetensors_limits::tensors, " tensors, got ",
                   entries.size());
  std::map<std::string, std::string> files;
  for (const auto& [tensor, file] : entries.items()) {
    require<IoError>(
        file.is_string() && is_plain_name(file.get<std::string>()), where,
        ": weight_map: ", printable(tensor), ": expected the name of a file in the ",
        "same folder, got ",
        printable(file.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
    files[tensor] = file.get<std::string>();
  }
  return files;
}

}  // namespace heed
