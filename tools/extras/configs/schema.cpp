#include "tools/extras/configs/schema.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "layers/config/values.h"
#include "train/config/run_config.h"

namespace heed {

namespace {

using Json = nlohmann::ordered_json;

// The value as a YAML parser passes it to a schema validator.
Json value_json(const ConfigNode& node) {
  if (node.is_map() || node.is_list()) {
    Json value = node.is_map() ? Json::object() : Json::array();
    for (const ConfigNode& child : node.children()) {
      node.is_map() ? void(value[child.key()] = value_json(child))
                    : value.push_back(value_json(child));
    }
    return value;
  }
  const std::string& text = node.text();
  if (node.quoted()) {
    return text;
  }
  if (text == "true" || text == "false") {
    return text == "true";
  }
  if (const auto whole = whole_number(node)) {
    return *whole;
  }
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? Json(number) : Json(text);
}

// Writes a whole number as 1, not 1.0.
Json number_json(double number) {
  const bool whole = std::floor(number) == number && std::abs(number) < 1e15;
  return whole ? Json(static_cast<int64_t>(number)) : Json(number);
}

Json number_schema(const char* type, const Range& range) {
  Json schema = {{"type", type}};
  if (range.min) {
    schema[range.min_bound == Bound::open ? "exclusiveMinimum" : "minimum"] =
        number_json(*range.min);
  }
  if (range.max) {
    schema[range.max_bound == Bound::open ? "exclusiveMaximum" : "maximum"] =
        number_json(*range.max);
  }
  return schema;
}

// An object with these fields, behind the properties that are given.
Json object_schema(const std::vector<FieldInfo>& fields, Json properties = Json::object(),
                   Json required = Json::array());

// True if a map without the field is invalid. A group is needed if one of its own fields is.
bool is_needed(const FieldInfo& info) {
  if (info.type != FieldType::group) {
    return info.required;
  }
  return !info.value.is_absent() && std::any_of(info.group.begin(), info.group.end(), is_needed);
}

std::string definition_name(const std::string& kind, const std::string& type) {
  return kind + "." + type;
}

// The types of a part that need no fields but those that are filled in.
std::vector<std::string> names_that_suffice(const FieldInfo& info) {
  std::vector<std::string> names;
  for (const auto& [name, type] : config_types(info.part_kind)) {
    if (std::none_of(type.fields().begin(), type.fields().end(), [&](const FieldInfo& field) {
          return is_needed(field) && !is_filled(field, info.fills);
        })) {
      names.push_back(name);
    }
  }
  return names;
}

// One of the types of the kind. Fields that the enclosing struct fills in are not required. Nor is
// `type` if the spec has a default type, whose fields are then valid.
Json part_schema(const FieldInfo& info) {
  const std::string usual = info.value.is_map() ? info.value.get("type").text()
                            : info.short_form   ? info.value.text()
                                                : info.usual_type;
  Json alternatives = Json::array();
  for (const auto& [name, type] : config_types(info.part_kind)) {
    Json required = Json::array();
    if (name != usual) {
      required.push_back("type");
    }
    for (const FieldInfo& field : type.fields()) {
      const bool given_by_default = name == usual && info.value.has(field.name);
      if (is_needed(field) && !is_filled(field, info.fills) && !given_by_default) {
        required.push_back(field.name);
      }
    }
    alternatives.push_back({{"$ref", "#/$defs/" + definition_name(info.part_kind, name)}});
    if (!required.empty()) {
      alternatives.back()["required"] = required;
    }
  }
  if (info.short_form) {
    alternatives.push_back({{"enum", names_that_suffice(info)}});
  }
  if (alternatives.empty()) {  // nothing of this kind is built in
    return {{"not", Json::object()}};
  }
  if (info.or_list) {
    const Json one = {{"oneOf", alternatives}};
    alternatives.push_back({{"type", "array"}, {"items", one}, {"minItems", 1}});
  }
  return {{"oneOf", alternatives}};
}

Json list_schema(const FieldInfo& info);

// The schema of the field's value, without description and default.
Json type_schema(const FieldInfo& info) {
  switch (info.type) {
    case FieldType::boolean:
      return {{"type", "boolean"}};
    case FieldType::integer:
      return number_schema("integer", info.range);
    case FieldType::number:
      return number_schema("number", info.range);
    case FieldType::string:  // a string field also takes unquoted numbers and booleans
      return {{"type", {"string", "number", "boolean"}}};
    case FieldType::choice:
      return {{"enum", info.choices}};
    case FieldType::number_map:
      return {{"type", "object"}, {"additionalProperties", number_schema("number", info.range)}};
    case FieldType::part:
      return part_schema(info);
    case FieldType::group:
      return object_schema(info.group);
    default:
      return list_schema(info);
  }
}

Json list_schema(const FieldInfo& info) {
  Json schema = {{"type", "array"}, {"items", type_schema(element_of(info))}};
  if (info.length.min > 0) {
    schema["minItems"] = info.length.min;
  }
  if (info.length.max) {
    schema["maxItems"] = *info.length.max;
  }
  if (info.or_list) {  // one text
    schema["type"] = {"array", "string", "number", "boolean"};
  }
  return schema;
}

Json field_schema(const FieldInfo& info) {
  Json schema = Json::object();
  if (!info.help.empty()) {
    schema["description"] = info.help;
  }
  if (info.off_word.empty()) {
    schema.update(type_schema(info));
  } else {
    schema["anyOf"] = {type_schema(info), {{"const", info.off_word}}};
  }
  if (!info.required && !info.value.is_absent() && info.type != FieldType::group) {
    schema["default"] = value_json(info.value);
  }
  if (!info.example_value.is_absent()) {
    schema["examples"] = Json::array({value_json(info.example_value)});
  }
  return schema;
}

Json object_schema(const std::vector<FieldInfo>& fields, Json properties, Json required) {
  for (const FieldInfo& info : fields) {
    properties[info.name] = field_schema(info);
    if (is_needed(info)) {
      required.push_back(info.name);
    }
  }
  return {{"type", "object"},
          {"properties", properties},
          {"required", required},
          {"additionalProperties", false}};
}

// The schema of {type: NAME, ...}. Which fields are required depends on its use: see part_schema.
Json type_definition(const ConfigType& type) {
  Json definition = {{"description", type.help}};
  definition.update(
      object_schema(type.fields(), {{"type", {{"const", type.name}}}}, Json::array({"type"})));
  return definition;
}

// Collects the kinds of all specs among the fields and, recursively, in the types of those kinds.
void collect_kinds(const std::vector<FieldInfo>& fields, std::vector<std::string>& kinds) {
  for (const FieldInfo& info : fields) {
    collect_kinds(info.group, kinds);
    if (info.part_kind.empty() ||
        std::find(kinds.begin(), kinds.end(), info.part_kind) != kinds.end()) {
      continue;
    }
    kinds.push_back(info.part_kind);
    for (const auto& [name, type] : config_types(info.part_kind)) {
      collect_kinds(type.fields(), kinds);
    }
  }
}

std::string written(const Json& json) { return json.dump(2) + "\n"; }

}  // namespace

std::string config_schema() {
  const std::vector<FieldInfo> fields = run_fields();
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "A config of heedgrad"}};
  schema.update(object_schema(fields));
  std::vector<std::string> kinds;
  collect_kinds(fields, kinds);
  Json& definitions = schema["$defs"] = Json::object();
  for (const std::string& kind : kinds) {
    for (const auto& [name, type] : config_types(kind)) {
      Json& definition = definitions[definition_name(kind, name)] = type_definition(type);
      definition.erase("required");
    }
  }
  return written(schema);
}

std::string types_schema(const std::vector<std::string>& kinds, const std::string& name) {
  Json schema = Json::object();
  for (const std::string& kind : kinds) {
    for (const auto& [called, type] : config_types(kind)) {
      if (name.empty() || called == name) {
        schema[kind][called] = type_definition(type);
      }
    }
  }
  return written(schema);
}

}  // namespace heed
