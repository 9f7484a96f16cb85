#include "tools/extras/hugging_face/train/rope.h"

#include <array>
#include <cmath>
#include <optional>

#include "layers/config/describe.h"

namespace heed {

namespace {

constexpr std::array rope_keys{"rope_parameters", "rope_scaling"};  // of transformers 5, and before
constexpr const char* scaled_type = "llama3";
constexpr const char* first_context = "original_max_position_embeddings";

bool is_of_scaling(const std::string& name) { return write_fields(RopeScaling{}).has(name); }

// The rope_type of one of the keys, which says nothing else that heed does not have.
std::string type_in(Keys& keys, const char* key) {
  const ConfigNode& rope = keys.get(key);
  if (!rope.is_map()) keys.refuse(key, "an object");
  std::optional<std::string> type;
  bool known = true, scales = false;
  for (const ConfigNode& each : rope.children()) {
    const std::string& name = each.key();
    if (each.is_null()) continue;
    if (name == "rope_type" || name == "type") {
      known = known && (!type || *type == each.text());
      type = each.text();
    } else if (is_of_scaling(name)) {
      scales = true;
    } else {
      known = known && (name == "rope_theta" || name == "partial_rotary_factor");
    }
  }
  const std::string found = type.value_or("default");
  if (!known || (found == "default" ? scales : found != scaled_type)) {
    keys.cannot(key, text("rope_type default or ", scaled_type));
  }
  return found;
}

}  // namespace

double rope_number(Keys& keys, const std::string& older_key, const std::string& name,
                   double usual) {
  std::optional<double> found;
  std::string place;
  for (const std::string key : {rope_keys[0], rope_keys[1], older_key.c_str()}) {
    const bool older = key == older_key;
    const ConfigNode& value = older ? keys.get(key) : keys.get(key).get(name);
    if (value.is_absent() || value.is_null()) continue;
    const double number = keys.number_of(value, key, usual);
    if (found && *found != number) {
      keys.refuse(key, text(older ? "" : name, older ? "" : " ", *found, ", as ", place, " is"));
    }
    found = number;
    place = older ? key : text(key, ".", name);
  }
  return found.value_or(usual);
}

ConfigNode read_rope_scaling(Keys& keys) {
  std::string type = "default";
  const char* from = nullptr;
  for (const char* key : rope_keys) {
    if (!keys.has(key)) continue;
    const std::string own = type_in(keys, key);
    if (from != nullptr && own != type) {
      keys.refuse(key, text("rope_type ", type, ", as ", from, " has"));
    }
    type = own;
    from = key;
  }
  if (type != scaled_type) return {};
  ConfigNode scaling = ConfigNode::map();
  for (const FieldInfo& field : list_fields<RopeScaling>()) {
    const bool counts = field.name == first_context;
    const double number = rope_number(keys, counts ? first_context : "", field.name, 0);
    if (number <= 0 || (counts && (number != std::floor(number) || number > 1e15))) {
      keys.refuse(from, text("rope_type ", scaled_type, " with a ", counts ? "whole " : "",
                             "number ", field.name));
    }
    scaling.set(field.name, counts ? ConfigNode(static_cast<int64_t>(number)) : number);
  }
  return scaling.get("factor").text() == "1" ? ConfigNode() : scaling;
}

void write_rope(const MultiHeadAttention::Config& attention, ConfigNode& json) {
  const bool scaled = attention.variant.rope_scaling.factor != 1;
  ConfigNode rope = ConfigNode::map({{"rope_type", scaled ? scaled_type : "default"}});
  const ConfigNode scaling = write_fields(attention.variant.rope_scaling);
  for (const ConfigNode& field : scaling.children()) {
    if (scaled) rope.set(field.key(), field);
  }
  if (scaled) json.set("rope_scaling", rope);
  rope.set("rope_theta", attention.variant.rope_base);
  json.set("rope_parameters", rope);
}

}  // namespace heed
