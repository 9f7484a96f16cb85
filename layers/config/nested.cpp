// Nested parts: fields whose own fields depend on a `type` (see Spec and Fills in fields.h).
#include <algorithm>
#include <charconv>

#include "layers/config/fields.h"
#include "layers/config/types.h"
#include "layers/config/values.h"
#include "layers/module/registry.h"

namespace heed {

namespace {

// The field that a Spec's type calls so; null: none.
const FieldInfo* find_info(const std::vector<FieldInfo>& infos, const std::string& name) {
  const auto found = std::find_if(infos.begin(), infos.end(),
                                  [&](const FieldInfo& info) { return info.name == name; });
  return found == infos.end() ? nullptr : &*found;
}

// A plain whole number, 0 for anything else.
int64_t whole_number(const ConfigNode& node) {
  int64_t value = 0;
  std::from_chars(node.text().data(), node.text().data() + node.text().size(), value);
  return value;
}

// "d_model/num_heads" in numbers, 0 for one that is not known; a divisor that the nested part gives
// itself goes first.
struct Quotient {
  std::string dividend, divisor;
  int64_t number = 0, by = 0;
  bool is_whole() const { return number > 0 && by > 0 && number % by == 0; }
  bool is_uneven() const { return number > 0 && by > 0 && number % by != 0; }
};

Quotient quotient_of(const std::string& fill, const std::vector<FieldInfo>& around,
                     const ConfigNode& options) {
  const size_t slash = fill.find('/');
  if (slash == std::string::npos) {
    return {};
  }
  Quotient q{fill.substr(0, slash), fill.substr(slash + 1)};
  const FieldInfo* dividend = find_info(around, q.dividend);
  const FieldInfo* divisor = find_info(around, q.divisor);
  const ConfigNode& given = options.get(q.divisor);
  q.number = dividend ? whole_number(dividend->value) : 0;
  q.by = whole_number(given.is_absent() && divisor ? divisor->value : given);
  return q;
}

// The fill that divides by the field `own`, so that a value that does not divide is reported where
// it was written; `own` itself when there is none, or when it is a quotient.
const std::string& quotient_by(const std::string& own, const Fills& fills) {
  const auto fill = std::find_if(fills.begin(), fills.end(), [&](const auto& candidate) {
    return candidate.second.ends_with("/" + own);
  });
  return fill == fills.end() ? own : fill->second;
}

// A program without a config may build a layer out of layers before it asks for any by name.
void require_types(const std::string& kind) {
  if (kind == "layer") {
    layer_registry();
  }
}

}  // namespace

const std::string* fill_for(const Fills& fills, const FieldInfo& field) {
  const std::string& name = field.fill_name.empty() ? field.name : field.fill_name;
  const auto fill = std::find_if(fills.begin(), fills.end(),
                                 [&](const auto& candidate) { return candidate.first == name; });
  return fill == fills.end() ? nullptr : &fill->second;
}

FieldInfo& Fields::section(const std::string& name, Spec& member, const std::string& kind,
                           const std::string& help, Fills fills, bool may_be_absent) {
  require_types(kind);
  FieldInfo& info = add(name, FieldType::spec, help);
  info.required = member.type.empty() && !may_be_absent;
  info.spec_kind = kind;
  info.fills = std::move(fills);
  deferred_.push_back([this, name, &member] { read_section(*find(name), member); });
  return info;
}

FieldInfo& Fields::layers(const std::string& name, std::vector<LayerSpec>& member,
                          const std::string& help, Fills fills) {
  require_types("layer");
  FieldInfo& info = add(name, FieldType::spec_list, help);
  info.required = member.empty();
  info.spec_kind = "layer";
  info.length = at_least_elements(1);
  info.fills = std::move(fills);
  deferred_.push_back([this, name, &member] { read_layers(*find(name), member); });
  return info;
}

void Fields::read_section(FieldInfo& info, Spec& member) {
  const ConfigNode* child = given(info);
  if (child && !read_spec(info, *child, member)) {
    failed_.push_back(info.name);
    return;
  }
  if (reading() && member) {
    complete_spec(info, child ? *child : *node_, member);
  }
  info.value = member ? value_of(info, member) : ConfigNode();
  if (child) {
    info.value.set_mark(child->mark());
  }
}

void Fields::read_layers(FieldInfo& info, std::vector<Spec>& member) {
  const ConfigNode* child = given(info);
  if (child) {
    if (!has_kind(info, *child, ConfigNode::Kind::list, *errors_) ||
        !has_length(info, *child, *errors_)) {
      failed_.push_back(info.name);
      return;
    }
    member.assign(static_cast<size_t>(child->size()), Spec{});
  }
  const FieldInfo element = element_of(info);
  info.value = member.empty() ? ConfigNode() : ConfigNode::list();
  for (size_t i = 0; i < member.size(); ++i) {
    const ConfigNode* place = child ? &child->at(static_cast<int64_t>(i)) : node_;
    if (child && !read_spec(element, *place, member[i])) {
      failed_.push_back(info.name);
      continue;
    }
    if (reading()) {
      complete_spec(element, *place, member[i]);
    }
    info.value.append(value_of(info, member[i]));
  }
}

bool Fields::read_spec(const FieldInfo& info, const ConfigNode& node, Spec& member) {
  if (!has_kind(info, node, ConfigNode::Kind::map, *errors_)) {
    return false;
  }
  std::string type = member.type;
  FieldInfo type_info;
  type_info.type = FieldType::choice;
  type_info.choices = config_types(info.spec_kind).names();
  if (const ConfigNode* named = node.find("type")) {
    if (!has_kind(type_info, *named, ConfigNode::Kind::scalar, *errors_)) {
      return false;
    }
    type = named->text();
    if (!config_types(info.spec_kind).find(type)) {
      const std::string near = nearest(type, type_info.choices);
      errors_->add(*named, "unknown ", info.spec_kind, " ", in_words(*named),
                   near.empty() ? "; there are " + joined(type_info.choices)
                                : ", did you mean " + near + "?");
      return false;
    }
  } else if (type.empty()) {
    errors_->add_field(node, "type", "missing, expected ", expected(type_info));
    return false;
  }
  ConfigNode options = node;
  options.erase("type");
  if (type == member.type) {
    for (const ConfigNode& option : member.options.children()) {
      if (!options.has(option.key())) {
        options.set(option.key(), option);
      }
    }
  }
  member = {type, std::move(options)};
  return true;
}

void Fields::complete_spec(const FieldInfo& info, const ConfigNode& at, Spec& member) {
  const ConfigType* type = config_types(info.spec_kind).find(member.type);
  const std::string path = join_path(node_->path(), info.name);
  if (!type) {
    errors_->add_at(at.mark(), path, text("unknown ", info.spec_kind, " ", member.type));
    return;
  }
  ConfigNode options = member.options.is_absent() ? ConfigNode::map() : member.options;
  if (&at == node_) {  // not in the config: the options are defaults made in C++
    options.set_mark(at.mark());
    options.set_path(path);
  }
  const ConfigNode written = options;
  const std::vector<FieldInfo>& fields = type->fields();
  std::vector<std::string> excused;
  for (const FieldInfo& field : fields) {
    const std::string* own = fill_for(info.fills, field);
    if (!own || options.has(field.name)) {
      continue;
    }
    const ConfigNode value = fill_value(*own, options);
    const Quotient q = quotient_of(quotient_by(*own, info.fills), infos_, written);
    if (q.is_uneven()) {
      errors_->add_field(written.has(q.divisor) ? written : *node_, q.divisor, "must divide ",
                         q.dividend, ": ", q.dividend, " is ", q.number, ", ", q.divisor, " is ",
                         q.by);
    }
    if (value.is_absent() || q.is_uneven()) {
      excused.push_back(join_path(options.path(), field.name));
    }
    if (!value.is_absent()) {
      options.set(field.name, value, value.mark());
    }
  }
  ConfigErrors nested_errors;
  member.options = type->complete(options, nested_errors);
  errors_->add_all(nested_errors, excused);
}

// The value of one of the own fields, of one divided by another ("d_model/num_heads"), or whether
// one has a value ("position=rope"). Absent: not known, or not whole.
ConfigNode Fields::fill_value(const std::string& own, const ConfigNode& options) {
  if (own.find('/') != std::string::npos) {
    const Quotient q = quotient_of(own, infos_, options);
    return q.is_whole() ? ConfigNode(q.number / q.by) : ConfigNode();
  }
  if (const size_t equals = own.find('='); equals != std::string::npos) {
    const ConfigNode chosen = fill_value(own.substr(0, equals), options);
    return chosen.is_absent() ? chosen : ConfigNode(chosen.text() == own.substr(equals + 1));
  }
  const FieldInfo* source = find(own);
  return source && !failed(own) ? source->value : ConfigNode();
}

ConfigNode Fields::value_of(const FieldInfo& info, const Spec& spec) {
  const ConfigType* type = config_types(info.spec_kind).find(spec.type);
  static const std::vector<FieldInfo> none;
  const std::vector<FieldInfo>& fields = type ? type->fields() : none;
  ConfigNode node = ConfigNode::map({{"type", spec.type}});
  for (const ConfigNode& option : spec.options.children()) {
    const FieldInfo* field = find_info(fields, option.key());
    const std::string* own = field ? fill_for(info.fills, *field) : nullptr;
    const ConfigNode filled = own ? fill_value(*own, spec.options) : ConfigNode();
    if (!filled.is_scalar() || filled.text() != option.text()) {
      node.set(option.key(), option);
    }
  }
  return node;
}

}  // namespace heed
