#include "layers/config/types.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "layers/config/values.h"

namespace heed {

namespace {

// Writes 1000000, not 1e+06.
std::string number_text(double value) {
  const bool whole = std::floor(value) == value && std::abs(value) < 1e15;
  return whole ? std::to_string(static_cast<int64_t>(value)) : ConfigNode(value).text();
}

// "of at least 1", "from 0 to 1", "from 0 to below 1", "" for any number.
std::string range_words(const Range& range) {
  const bool open_min = range.min_bound == Bound::open;
  const bool open_max = range.max_bound == Bound::open;
  if (range.min && range.max) {
    const std::string min = number_text(*range.min), max = number_text(*range.max);
    return (open_min ? " above " : " from ") + min +
           (open_max ? (open_min ? " and below " : " to below ")
                     : (open_min ? " up to " : " to ")) +
           max;
  }
  if (range.min) {
    return (open_min ? " above " : " of at least ") + number_text(*range.min);
  }
  return range.max ? (open_max ? " below " : " of at most ") + number_text(*range.max) : "";
}

std::string list_words(const FieldInfo& info, const std::string& element) {
  const Length& length = info.length;
  if (length.max && *length.max == length.min) {
    return text("a list of ", length.min, " ", element, range_words(info.range));
  }
  const std::string least = length.min > 0 ? text(", at least ", length.min, " of them") : "";
  const std::string most = length.max ? text(", at most ", *length.max) : "";
  return text("a list of ", element, range_words(info.range), least, most);
}

std::string with_article(const std::string& kind) {
  return (kind.find_first_of("aeiou") == 0 ? "an " : "a ") + kind;
}

// The choices; of many types only where they are listed.
std::string choice_words(const FieldInfo& info) {
  return info.spec_kind.empty() || info.choices.size() <= few_names
             ? one_of(info.choices)
             : "the name of " + with_article(info.spec_kind) + "; see heed layers";
}

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

void ConfigTypes::add(ConfigType type) {
  require<ConfigError>(!find(type.name), "config_types: the ", kind_, " ", type.name,
                       " is registered twice");
  const auto place =
      std::lower_bound(types_.begin(), types_.end(), type,
                       [](const ConfigType& a, const ConfigType& b) { return a.name < b.name; });
  types_.insert(place, std::move(type));
}

const ConfigType* ConfigTypes::find(const std::string& name) const {
  const auto found = std::find_if(types_.begin(), types_.end(),
                                  [&](const ConfigType& type) { return type.name == name; });
  return found == types_.end() ? nullptr : &*found;
}

std::vector<std::string> ConfigTypes::names() const {
  std::vector<std::string> names;
  for (const ConfigType& type : types_) {
    names.push_back(type.name);
  }
  return names;
}

ConfigTypes& config_types(const std::string& kind) {
  static std::map<std::string, ConfigTypes> tables;
  return tables.try_emplace(kind, kind).first->second;
}

std::string expected(const FieldInfo& info) {
  const std::string or_off = info.off_word.empty() ? "" : " or " + info.off_word;
  switch (info.type) {
    case FieldType::boolean:
      return "true or false";
    case FieldType::integer:
      return "a whole number" + range_words(info.range) + or_off;
    case FieldType::number:
      return "a number" + range_words(info.range) + or_off;
    case FieldType::string:
      return "text";
    case FieldType::choice:
      return choice_words(info);
    case FieldType::boolean_list:
      return list_words(info, "true or false");
    case FieldType::integer_list:
      return list_words(info, "whole numbers");
    case FieldType::number_list:
      return list_words(info, "numbers");
    case FieldType::string_list:
      return list_words(info, "texts");
    case FieldType::spec:
      return with_article(info.spec_kind) + ", written {type: NAME, ...}";
    case FieldType::spec_list:
      return list_words(info, info.spec_kind + "s");
    case FieldType::group:
      return "a map";
  }
  return "";
}

std::string default_words(const FieldInfo& info) {
  if (info.required) {
    return "required";
  }
  if (info.value.has("type")) {
    return "default " + info.value.get("type").text();
  }
  const bool one_line = info.value.is_scalar() || info.value.is_list();
  if (!one_line || info.type == FieldType::spec_list) {
    return "optional";
  }
  std::string written = to_yaml(info.value);
  written.erase(written.find_last_not_of('\n') + 1);
  return "default " + written;
}

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
