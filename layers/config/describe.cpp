#include "layers/config/describe.h"

#include "layers/config/defaults.h"

namespace heed {

namespace {

template <class T>
ConfigNode node_of(const T& value, const std::string&) {
  return value;
}
template <class T>
ConfigNode node_of(const std::optional<T>& value, const std::string& off_word) {
  return value ? ConfigNode(*value) : ConfigNode::scalar(off_word, false);
}
template <class T>
ConfigNode node_of(const std::vector<T>& value, const std::string&) {
  return ConfigNode::list(std::vector<ConfigNode>(value.begin(), value.end()));
}
ConfigNode node_of(const NamedNumbers& value, const std::string&) {
  ConfigNode map;  // absent without numbers
  for (const auto& [name, number] : value) map.set(name, number);
  return map;
}

// Adds the fields to `node`, but those that `fill` would fill in with the same value.
void add_fields(const ConfigRef& config, const Fill& fill, ConfigNode& node) {
  std::vector<Field> fields = fields_of(config);
  std::vector<const Field*> all;
  for (const Field& field : fields) all.push_back(&field);
  const Defaults defaults(fill, std::move(all));
  for (const Field& field : fields) {
    const Defaults::Entry* filled = defaults.find(field.info);
    ConfigNode value = value_node(field);
    if (!value.is_absent() && !is_turned_off(field, fields) &&
        (filled == nullptr || !has_value(field, *filled))) {
      node.set(field.info.name, std::move(value));
    }
  }
}

ConfigNode part_node(const Choice& part, const Fill& fill) {
  ConfigNode node = ConfigNode::map({{"type", part.type()}});
  if (part.has_config()) add_fields(part.config(), fill, node);
  return node;
}

ConfigNode list_node(const std::vector<Choice>& parts, const Fill& fill) {
  ConfigNode list;
  for (const Choice& part : parts) list.append(part_node(part, fill));
  return list;
}

}  // namespace

ConfigNode value_node(const Field& field) {
  if (const auto* part = std::get_if<Choice*>(&field.member)) {
    if (!(*part)->others.empty()) return list_node((*part)->all(), field.fill);
    const std::string& off = field.info.off_word;
    const ConfigNode node = **part        ? part_node(**part, field.fill)
                            : off.empty() ? ConfigNode()
                                          : ConfigNode::scalar(off, false);
    return field.info.short_form && node.is_map() && node.size() == 1 ? node.at(0) : node;
  }
  if (const auto* parts = std::get_if<std::vector<Choice>*>(&field.member)) {
    return list_node(**parts, {});
  }
  if (const auto* group = std::get_if<ConfigRef>(&field.member)) return write_struct(*group);
  ConfigNode node =
      std::visit([&](const auto* value) { return node_of(*value, field.info.off_word); },
                 std::get<Value>(field.member));
  if (field.info.or_list && node.size() == 1) return ConfigNode(node.at(0));
  return field.info.type == FieldType::choice && node.text().empty() ? ConfigNode() : node;
}

std::vector<FieldInfo> describe(const ConfigRef& config) {
  std::vector<FieldInfo> infos;
  for (Field& field : fields_of(config)) {
    field.info.value = value_node(field);
    const Defaults filled(field.fill);
    for (const auto& entry : filled.entries()) field.info.fills.push_back(entry.name);
    if (const auto* group = std::get_if<ConfigRef>(&field.member)) {
      field.info.group = describe(*group);
    }
    infos.push_back(std::move(field.info));
  }
  return infos;
}

ConfigNode write_struct(const ConfigRef& config) {
  ConfigNode out = ConfigNode::map();
  add_fields(config, {}, out);
  return out;
}

}  // namespace heed
