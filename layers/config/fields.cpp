#include "layers/config/fields.h"

#include <algorithm>
#include <array>

#include "layers/config/types.h"

namespace heed {

namespace {

// In the order of Value's alternatives.
constexpr std::array field_types{
    FieldType::boolean,      FieldType::integer,      FieldType::number,
    FieldType::string,       FieldType::integer,      FieldType::number,
    FieldType::boolean_list, FieldType::integer_list, FieldType::number_list,
    FieldType::string_list,  FieldType::number_map};
static_assert(field_types.size() == std::variant_size_v<Value>);

}  // namespace

bool Range::contains(double value) const {
  constexpr double least = 1.2e-38;  // float32 makes 0 of less, and 1 of 0.99999999
  const bool above_min = !min || (min_bound == Bound::open ? value - *min > least : value >= *min);
  const bool below_max =
      !max || (max_bound == Bound::open ? static_cast<float>(value) < static_cast<float>(*max)
                                        : value <= *max);
  return above_min && below_max;
}

bool is_filled(const FieldInfo& field, const std::vector<std::string>& fills) {
  return std::find(fills.begin(), fills.end(), field.fill_name()) != fills.end();
}

FieldInfo& Fields::add(const std::string& name, FieldType type, Member member,
                       const std::string& help) {
  require<ConfigError>(find_field(fields_, name) == nullptr, "Fields: the field ", name,
                       " is declared twice");
  fields_.reserve(std::max<size_t>(16, fields_.size()));  // few structs have more fields
  FieldInfo& info = fields_.emplace_back(Field{{}, member, {}}).info;
  info.name = name;
  info.type = type;
  info.help = help;
  return info;
}

FieldInfo& Fields::add_value(const std::string& name, Value value, bool required,
                             const Range& range, const Length& length, const std::string& help) {
  FieldInfo& info = add(name, field_types[value.index()], value, help);
  info.required = required;
  info.range = range;
  info.shown = (required && info.type == FieldType::integer) || range == probability;
  info.length = length;
  return info;
}

FieldInfo& Fields::choice(const std::string& name, std::string& member,
                          std::vector<std::string> choices, const std::string& help) {
  FieldInfo& info = add(name, FieldType::choice, Value(&member), help);
  info.required = member.empty();
  info.choices = std::move(choices);
  return info;
}

FieldInfo& Fields::section(const std::string& name, Choice& member, const std::string& kind,
                           const std::string& help, Fill fill, bool may_be_absent) {
  fill_types(kind);
  FieldInfo& info = add(name, FieldType::part, &member, help);
  info.required = !member && !may_be_absent;
  info.part_kind = kind;
  fields_.back().fill = std::move(fill);
  return info;
}

FieldInfo& Fields::layers(const std::string& name, std::vector<LayerChoice>& member,
                          const std::string& help) {
  fill_types("layer");
  FieldInfo& info = add(name, FieldType::part_list, &member, help);
  info.required = member.empty();
  info.part_kind = "layer";
  info.length = {.min = 1, .max = {}};
  return info;
}

std::vector<Field> fields_of(const ConfigRef& config) {
  Fields fields;
  config.of->declare(config.config, fields);
  return std::move(fields.all());
}

Field* find_field(std::vector<Field>& fields, const std::string& name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const Field& field) { return field.info.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

const FieldInfo* find_field(const std::vector<FieldInfo>& fields, const std::string& name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const FieldInfo& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

bool is_turned_off(const Field& field, std::vector<Field>& fields) {
  const Field* const flag = find_field(fields, field.info.needed_flag);
  return flag != nullptr && !*member_of<bool>(*flag);
}

}  // namespace heed
