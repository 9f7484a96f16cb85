#include "tools/extras/configs/config_keys.h"

#include <sstream>

#include "layers/config/types.h"
#include "layers/config/values.h"
#include "tools/commands/config_file.h"
#include "train/config/run_config.h"
#include "train/yaml/yaml_set.h"

namespace heed::cli {

namespace {

// The config with its `sets`; of one that cannot be read, the sets alone.
ConfigNode tree_of(const std::string& config, const std::vector<std::string>& sets) {
  ConfigNode root = ConfigNode::map();
  const auto if_possible = [](const auto& step) {
    try {
      step();
    } catch (const Error&) {  // training will report it
    }
  };
  if_possible([&] {
    if (const auto file = find_config(config); !config.empty() && file) {
      root = read_run_tree(*file).root;
    }
  });
  for (const std::string& set : sets) {
    if_possible([&] {
      ConfigErrors errors;
      apply_set(root, set, errors);
    });
  }
  return root;
}

// The fields of a part and its `type`. `written`: its value in the config.
std::vector<FieldInfo> fields_of_part(const FieldInfo& part, const ConfigNode& written) {
  const ConfigTypes& types = config_types(part.part_kind);
  const auto type_in = [](const ConfigNode& node) {
    return node.is_map() ? node.get("type").text() : node.is_scalar() ? node.text() : "";
  };
  std::string name;
  for (const std::string& type : {part.usual_type, type_in(part.value), type_in(written)}) {
    name = type.empty() ? name : type;
  }
  FieldInfo type;
  type.name = "type";
  type.type = FieldType::choice;
  type.choices = types.names();
  type.help = "which " + part.part_kind;
  std::vector<FieldInfo> fields{type};
  const ConfigType* const known = types.find(name);
  for (const std::string& each : known != nullptr ? std::vector{name} : types.names()) {
    for (const FieldInfo& field : types.find(each)->fields()) {
      if (find_field(fields, field.name) == nullptr) {
        fields.push_back(field);
      }
    }
  }
  return fields;
}

bool has_fields(const FieldInfo& field) {
  return field.type == FieldType::group || field.type == FieldType::part;
}

std::vector<FieldInfo> fields_below(const FieldInfo& field, const ConfigNode& written) {
  if (field.type == FieldType::group) {
    return field.group;
  }
  if (field.or_list && written.is_list()) {
    std::vector<FieldInfo> elements(static_cast<size_t>(written.size()), element_of(field));
    for (size_t i = 0; i < elements.size(); ++i) elements[i].name = std::to_string(i);
    return elements;
  }
  return field.type == FieldType::part ? fields_of_part(field, written) : std::vector<FieldInfo>{};
}

// The values of a field, if they can be listed.
std::vector<std::string> values_of(const FieldInfo& field) {
  std::vector<std::string> values = field.choices;
  if (field.type == FieldType::boolean) {
    values = {"false", "true"};
  } else if (field.type == FieldType::part && field.short_form) {
    values = config_types(field.part_kind).names();
  }
  if (!field.off_word.empty()) {
    values.push_back(field.off_word);
  }
  return values;
}

}  // namespace

Candidates config_keys(const std::string& typed, const std::string& config,
                       const std::vector<std::string>& sets) {
  const size_t equals = typed.find('=');
  const std::string path = typed.substr(0, equals);
  const size_t dot = path.rfind('.');
  const std::string above = dot == std::string::npos ? "" : path.substr(0, dot + 1);

  std::vector<FieldInfo> fields = run_fields();
  const ConfigNode root = tree_of(config, sets);
  const ConfigNode* written = &root;
  std::istringstream keys(above);
  for (std::string key; std::getline(keys, key, '.');) {
    const FieldInfo* const field = find_field(fields, key);
    if (field == nullptr) {
      return {};
    }
    written = written->is_list() ? &written->at(std::stoll(key)) : &written->get(key);
    fields = fields_below(*field, *written);
  }

  Candidates found;
  if (equals != std::string::npos) {
    const FieldInfo* const field = find_field(fields, path.substr(above.size()));
    if (field == nullptr) {
      return {};
    }
    for (const std::string& value : values_of(*field)) {
      found.words.push_back({path + "=" + value, ""});
    }
    found.also = field->name == "path" ? Names::files : Names::none;
    return found;
  }
  for (const FieldInfo& field : fields) {
    if (has_fields(field)) {
      found.words.push_back({above + field.name + ".", field.help});
    }
    if (!has_fields(field) || field.short_form) {
      found.words.push_back({above + field.name + "=", field.help});
    }
  }
  return found;
}

}  // namespace heed::cli
