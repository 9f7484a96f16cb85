#include "layers/config/types.h"

#include <cmath>
#include <mutex>

#include "layers/config/left_out.h"
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
  return info.part_kind.empty() || info.choices.size() <= few_names
             ? one_of(info.choices)
             : "the name of " + with_article(info.part_kind) + "; see heed layers";
}

}  // namespace

const std::vector<FieldInfo>& ConfigType::fields() const {
  static std::map<const ConfigClass*, std::vector<FieldInfo>> described;
  static std::mutex mutex;
  {
    const std::lock_guard lock(mutex);
    if (const auto found = described.find(config); found != described.end()) return found->second;
  }
  // Describing a part asks for the fields of others, so the lock is not held meanwhile.
  const std::shared_ptr<void> defaults = config->copy(nullptr);
  std::vector<FieldInfo> infos = describe({config, defaults.get()});
  const std::lock_guard lock(mutex);
  return described.try_emplace(config, std::move(infos)).first->second;
}

void ConfigTypes::add(ConfigType type) {
  require<ConfigError>(!find(type.name), "config_types: the ", kind_, " ", type.name,
                       " is registered twice");
  const std::string name = type.name;
  types_.emplace(name, std::move(type));
}

const ConfigType* ConfigTypes::find(const std::string& name) const {
  const auto found = types_.find(name);
  return found == types_.end() ? nullptr : &found->second;
}

const ConfigType& ConfigTypes::get(const std::string& name) const {
  const ConfigType* type = find(name);
  if (type == nullptr) {
    const std::string extra = belongs_to_extra(kind_, name);
    fail<ConfigError>("unknown ", kind_, " \"", name, "\"",
                      extra.empty() ? did_you_mean(name, names()) : extra);
  }
  return *type;
}

std::vector<std::string> ConfigTypes::names() const {
  std::vector<std::string> names;
  for (const auto& [name, type] : types_) names.push_back(name);
  return names;
}

ConfigTypes& config_types(const std::string& kind) {
  static std::map<std::string, ConfigTypes> tables;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
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
      return info.or_list ? "text, or a list of one or more" : list_words(info, "texts");
    case FieldType::number_map:
      return "a map of numbers" + range_words(info.range);
    case FieldType::part:
      return (info.usual_type.empty()
                  ? with_article(info.part_kind) + ", written {type: NAME, ...}"
                  : "a map of the fields that heed layers " + info.usual_type + " lists") +
             (info.or_list ? ", or a list of one or more" : "") + or_off;
    case FieldType::part_list:
      return list_words(info, info.part_kind + "s");
    case FieldType::group:
      return "a map";
  }
  return "";
}

}  // namespace heed
