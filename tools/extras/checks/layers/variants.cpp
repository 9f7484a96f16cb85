#include "tools/extras/checks/layers/variants.h"

#include <algorithm>

namespace heed {

namespace {

// A value within the range: 4 for whole numbers and 0.5 for others if they fit.
ConfigNode example_number(const FieldInfo& info) {
  const bool whole = info.type == FieldType::integer || info.type == FieldType::integer_list;
  const Range& range = info.range;
  const double step = whole ? 1 : range.min && range.max ? (*range.max - *range.min) / 2 : 1;
  for (const double value : {whole ? 4.0 : 0.5, range.min.value_or(0), range.min.value_or(0) + step,
                             range.max.value_or(0)}) {
    if (range.contains(value)) {
      return whole ? ConfigNode(static_cast<int64_t>(value)) : ConfigNode(value);
    }
  }
  return ConfigNode(0);
}

ConfigNode example_of(const FieldInfo& info) {
  if (!info.example_value.is_absent()) {
    return info.example_value;
  }
  switch (info.type) {
    case FieldType::boolean:
      return false;
    case FieldType::integer:
    case FieldType::number:
      return example_number(info);
    case FieldType::choice:
      return info.choices.empty() ? ConfigNode("") : info.choices.front();
    case FieldType::integer_list:
    case FieldType::number_list:
      return ConfigNode::list(std::vector<ConfigNode>(
          static_cast<size_t>(std::max<int64_t>(1, info.length.min)), example_number(info)));
    case FieldType::group:
      return example_config(info.group);
    default:
      return "example";
  }
}

// The values of one option that a gradient check has to try besides `base`.
std::vector<ConfigNode> other_values(const FieldInfo& info, const ConfigNode& base) {
  std::vector<ConfigNode> values = info.variants;
  if (info.type == FieldType::boolean) {
    values.insert(values.end(), {true, false});
  }
  for (const std::string& choice : info.choices) {
    values.push_back(choice);
  }
  if (!info.off_word.empty()) {
    values.push_back(ConfigNode::scalar(info.off_word, false));
  }
  std::erase(values, base);
  return values;
}

}  // namespace

ConfigNode example_config(const std::vector<FieldInfo>& fields) {
  ConfigNode config = ConfigNode::map();
  for (const FieldInfo& info : fields) {
    if (info.required || !info.example_value.is_absent()) {
      config.set(info.name, example_of(info));
    }
  }
  return config;
}

std::vector<ConfigNode> option_variants(const std::vector<FieldInfo>& fields) {
  const ConfigNode base = example_config(fields);
  std::vector<ConfigNode> configs = {base};
  for (const FieldInfo& info : fields) {
    const ConfigNode& usual = base.has(info.name) ? base.get(info.name) : info.value;
    for (ConfigNode& value : other_values(info, usual)) {
      configs.push_back(base);
      configs.back().set(info.name, std::move(value));
    }
  }
  return configs;
}

}  // namespace heed
