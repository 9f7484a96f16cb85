// Reads the value of a field from the text of a config. Stricter than YAML: `010` is not octal 8,
// `no` is not false, `"4"` is not a number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "layers/config/fields.h"

namespace heed {

// The number that a field without a range reads from this node; nullopt if it refuses the text.
std::optional<int64_t> whole_number(const ConfigNode& node);

// Reads the value of a field that is not a struct into its member. Returns false after a mistake.
bool read_value(const Field& field, const ConfigNode& node, ConfigErrors& errors);

// Adds a mistake, at the place of the map around the field, if its range, length or choices exclude
// its value. For a field that is no struct. Returns false in that case.
bool check_value(const Field& field, const ConfigNode& around, ConfigErrors& errors);

// How many scalars read_value has read since the process began: each text is to be read once.
int64_t scalars_read();

// Each sets `value` and returns true, or reports one or more mistakes and returns false.
bool read_value(const FieldInfo& info, const ConfigNode& node, bool& value, ConfigErrors& errors);
bool read_value(const FieldInfo& info, const ConfigNode& node, int64_t& value,
                ConfigErrors& errors);
bool read_value(const FieldInfo& info, const ConfigNode& node, double& value, ConfigErrors& errors);
bool read_value(const FieldInfo& info, const ConfigNode& node, std::string& value,
                ConfigErrors& errors);
bool read_value(const FieldInfo& info, const ConfigNode& node, NamedNumbers::value_type& value,
                ConfigErrors& errors);

// Returns true if the node has this kind. Otherwise reports it: a list instead of a scalar, say.
bool has_kind(const FieldInfo& info, const ConfigNode& node, ConfigNode::Kind kind,
              ConfigErrors& errors);

template <class T>
bool read_value(const FieldInfo& info, const ConfigNode& node, std::optional<T>& value,
                ConfigErrors& errors) {
  if (node.is_scalar() && !node.quoted() && node.text() == info.off_word) {
    value.reset();
    return true;
  }
  T number{};
  if (!read_value(info, node, number, errors)) {
    return false;
  }
  value = number;
  return true;
}

// The declaration of one element of a list or map field.
FieldInfo element_of(const FieldInfo& list);
bool has_length(const FieldInfo& info, const ConfigNode& node, ConfigErrors& errors);

template <class T>
bool read_value(const FieldInfo& info, const ConfigNode& node, std::vector<T>& value,
                ConfigErrors& errors) {
  const FieldInfo element = element_of(info);
  if (T one{}; info.or_list && node.is_scalar()) {
    const bool ok = read_value(element, node, one, errors);
    value.assign(ok ? 1 : 0, one);
    return ok;
  }
  const bool is_map = info.type == FieldType::number_map;
  if (!has_kind(info, node, is_map ? ConfigNode::Kind::map : ConfigNode::Kind::list, errors)) {
    return false;
  }
  std::vector<T> elements;
  bool ok = has_length(info, node, errors);
  for (const ConfigNode& child : node.children()) {
    T read{};
    ok = read_value(element, child, read, errors) && ok;
    elements.push_back(read);
  }
  if (ok) {
    value = std::move(elements);
  }
  return ok;
}

// A message lists up to this many names.
inline constexpr size_t few_names = 6;
// "a, b, c"
std::string joined(const std::vector<std::string>& words);
// "a, b or c"
std::string one_of(const std::vector<std::string>& words);

}  // namespace heed
