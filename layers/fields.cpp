#include "layers/fields.h"

#include <algorithm>
#include <charconv>
#include <type_traits>

#include "layers/config_types.h"
#include "layers/field_values.h"

namespace heed {

namespace {

template <class T>
constexpr FieldType scalar_type() {
  if constexpr (std::is_same_v<T, bool>) {
    return FieldType::boolean;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return FieldType::integer;
  } else if constexpr (std::is_same_v<T, double>) {
    return FieldType::number;
  } else {
    static_assert(std::is_same_v<T, std::string>);
    return FieldType::string;
  }
}

// How a C++ value stands in a config, and what type of field it makes.
template <class T>
struct Traits {
  static constexpr FieldType type = scalar_type<T>();
  static ConfigNode node(const T& value, const std::string&) { return value; }
};

template <class T>
struct Traits<std::optional<T>> {
  static constexpr FieldType type = scalar_type<T>();
  static ConfigNode node(const std::optional<T>& value, const std::string& off_word) {
    return value ? ConfigNode(*value) : ConfigNode::scalar(off_word, false);
  }
};

template <class T>
struct Traits<std::vector<T>> {
  static constexpr FieldType type = std::is_same_v<T, bool>      ? FieldType::boolean_list
                                    : std::is_same_v<T, int64_t> ? FieldType::integer_list
                                    : std::is_same_v<T, double>  ? FieldType::number_list
                                                                 : FieldType::string_list;
  static ConfigNode node(const std::vector<T>& value, const std::string&) {
    return ConfigNode::list(std::vector<ConfigNode>(value.begin(), value.end()));
  }
};

std::vector<std::string> names_of(const std::vector<FieldInfo>& infos) {
  std::vector<std::string> names;
  for (const FieldInfo& info : infos) {
    names.push_back(info.name);
  }
  return names;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    out += (out.empty() ? "" : ", ") + word;
  }
  return out;
}

// What fills in a field of a nested part: the name of a field around it; null: nothing does.
const std::string* fill_for(const Fills& fills, const FieldInfo& field) {
  const std::string& name = field.fill_name.empty() ? field.name : field.fill_name;
  const auto fill = std::find_if(fills.begin(), fills.end(),
                                 [&](const auto& candidate) { return candidate.first == name; });
  return fill == fills.end() ? nullptr : &fill->second;
}

// A plain whole number, 0 for anything else.
int64_t whole_number(const ConfigNode& node) {
  int64_t value = 0;
  std::from_chars(node.text().data(), node.text().data() + node.text().size(), value);
  return value;
}

const FieldInfo* find_info(const std::vector<FieldInfo>& infos, const std::string& name) {
  const auto found = std::find_if(infos.begin(), infos.end(),
                                  [&](const FieldInfo& info) { return info.name == name; });
  return found == infos.end() ? nullptr : &*found;
}

}  // namespace

bool Range::contains(double value) const {
  const bool above_min = !min || (min_bound == Bound::open ? value > *min : value >= *min);
  const bool below_max = !max || (max_bound == Bound::open ? value < *max : value <= *max);
  return above_min && below_max;
}

FieldInfo* Fields::find(const std::string& name) {
  return const_cast<FieldInfo*>(find_info(infos_, name));
}

bool Fields::failed(const std::string& name) const {
  return std::find(failed_.begin(), failed_.end(), name) != failed_.end();
}

FieldInfo& Fields::add(const std::string& name, FieldType type, const std::string& help) {
  require<ConfigError>(!find(name), "Fields: the field ", name, " is declared twice");
  FieldInfo& info = infos_.emplace_back();
  info.name = name;
  info.type = type;
  info.help = help;
  return info;
}

const ConfigNode* Fields::given(const FieldInfo& info) {
  if (!reading()) {
    return nullptr;
  }
  const ConfigNode* child = node_->find(info.name);
  if (!child && info.required && (node_->is_map() || node_->is_absent())) {
    errors_->add_field(*node_, info.name, "missing, expected ", expected(info),
                       info.help.empty() ? "" : " (" + info.help + ")");
  }
  if (!child && info.required) {
    failed_.push_back(info.name);
  }
  return child;
}

template <class T>
FieldInfo& Fields::bind(const std::string& name, T& member, bool required, const Range& range,
                        const Length& length, const std::string& off_word,
                        const std::string& help) {
  FieldInfo& info = add(name, Traits<T>::type, help);
  info.required = required;
  info.range = range;
  info.length = length;
  info.off_word = off_word;
  const ConfigNode* child = given(info);
  if (child && !read_value(info, *child, member, *errors_)) {
    failed_.push_back(name);
  }
  if (!failed(name)) {
    info.value = Traits<T>::node(member, off_word);
  }
  if (child) {
    info.value.set_mark(child->mark());
  }
  return info;
}

FieldInfo& Fields::choice(const std::string& name, std::string& member,
                          std::vector<std::string> choices, const std::string& help) {
  FieldInfo& info = add(name, FieldType::choice, help);
  info.required = member.empty();
  info.choices = std::move(choices);
  const ConfigNode* child = given(info);
  if (child && !read_value(info, *child, member, *errors_)) {
    failed_.push_back(name);
  }
  info.value = member.empty() ? ConfigNode() : ConfigNode(member);
  if (child) {
    info.value.set_mark(child->mark());
  }
  return info;
}

FieldInfo& Fields::add_group(const std::string& name, const std::string& help, bool may_be_absent,
                             const std::function<bool(Fields&)>& run) {
  FieldInfo& info = add(name, FieldType::group, help);
  Fields listed;
  run(listed);
  info.group = listed.infos();
  if (!may_be_absent) {
    info.value = listed.values();
  }
  if (reading() && (!may_be_absent || node_->has(name))) {
    read_group(info, run);
  }
  return info;
}

void Fields::read_group(FieldInfo& info, const std::function<bool(Fields&)>& run) {
  ConfigNode empty = ConfigNode::map();
  empty.set_mark(node_->mark());
  empty.set_path(join_path(node_->path(), info.name));
  const ConfigNode* child = node_->find(info.name);
  if (child && !has_kind(info, *child, ConfigNode::Kind::map, *errors_)) {
    failed_.push_back(info.name);
    return;
  }
  Fields nested(child ? *child : empty, *errors_);
  if (!run(nested)) {
    failed_.push_back(info.name);
  }
  info.value = nested.values();
}

FieldInfo& Fields::section(const std::string& name, Spec& member, const std::string& kind,
                           const std::string& help, Fills fills, bool may_be_absent) {
  FieldInfo& info = add(name, FieldType::spec, help);
  info.required = member.type.empty() && !may_be_absent;
  info.spec_kind = kind;
  info.fills = std::move(fills);
  deferred_.push_back([this, name, &member] { read_section(*find(name), member); });
  return info;
}

FieldInfo& Fields::layers(const std::string& name, std::vector<LayerSpec>& member,
                          const std::string& help, Fills fills) {
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
  const std::vector<FieldInfo> fields = type->fields();
  std::vector<std::string> excused;
  for (const FieldInfo& field : fields) {
    const std::string* own = fill_for(info.fills, field);
    if (!own || options.has(field.name)) {
      continue;
    }
    const ConfigNode value = fill_value(*own, options);
    if (value.is_absent()) {
      excused.push_back(join_path(options.path(), field.name));
    } else {
      options.set(field.name, value, value.mark());
    }
  }
  ConfigErrors nested_errors;
  member.options = type->complete(options, nested_errors);
  errors_->add_all(nested_errors, excused);
}

// The value of one of the own fields, or of one divided by another ("d_model/num_heads"), where a
// divisor that the nested part gives itself goes first. Absent: not known, or not whole.
ConfigNode Fields::fill_value(const std::string& own, const ConfigNode& options) {
  const size_t slash = own.find('/');
  const std::string name = own.substr(0, slash);
  const FieldInfo* source = find(name);
  if (!source || failed(name) || slash == std::string::npos) {
    return source && !failed(name) ? source->value : ConfigNode();
  }
  const std::string divisor = own.substr(slash + 1);
  const FieldInfo* below = find(divisor);
  const ConfigNode& given = options.get(divisor);
  const int64_t dividend = whole_number(source->value);
  const int64_t by = whole_number(given.is_absent() && below ? below->value : given);
  return by > 0 && dividend % by == 0 ? ConfigNode(dividend / by) : ConfigNode();
}

ConfigNode Fields::value_of(const FieldInfo& info, const Spec& spec) {
  const ConfigType* type = config_types(info.spec_kind).find(spec.type);
  const std::vector<FieldInfo> fields = type ? type->fields() : std::vector<FieldInfo>{};
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

bool Fields::finish() {
  for (const std::function<void()>& read : deferred_) {
    read();
  }
  deferred_.clear();
  if (reading()) {
    report_unknown_keys();
  }
  return failed_.empty();
}

void Fields::report_unknown_keys() {
  if (!node_->is_map() && !node_->is_absent()) {
    errors_->add(*node_,
                 node_->is_null() ? "missing value, expected a map" : "expected a map, got ",
                 node_->is_null() ? "" : in_words(*node_));
    failed_.push_back("");
    return;
  }
  const std::vector<std::string> names = names_of(infos_);
  for (const ConfigNode& child : node_->children()) {
    if (find(child.key())) {
      continue;
    }
    const std::string near = nearest(child.key(), names);
    errors_->add_at(child.key_mark(), child.path(),
                    names.empty()  ? "unknown key; there are no keys here"
                    : near.empty() ? "unknown key; the keys here are " + joined(names)
                                   : "unknown key, did you mean " + near + "?");
  }
}

ConfigNode Fields::values() const {
  ConfigNode out = ConfigNode::map();
  if (node_) {
    out.set_mark(node_->mark());
    out.set_path(node_->path());
  }
  for (const FieldInfo& info : infos_) {
    if (!info.value.is_absent()) {
      out.set(info.name, info.value, info.value.mark());
    }
  }
  return out;
}

template FieldInfo& Fields::bind(const std::string&, bool&, bool, const Range&, const Length&,
                                 const std::string&, const std::string&);
template FieldInfo& Fields::bind(const std::string&, int64_t&, bool, const Range&, const Length&,
                                 const std::string&, const std::string&);
template FieldInfo& Fields::bind(const std::string&, double&, bool, const Range&, const Length&,
                                 const std::string&, const std::string&);
template FieldInfo& Fields::bind(const std::string&, std::string&, bool, const Range&,
                                 const Length&, const std::string&, const std::string&);
template FieldInfo& Fields::bind(const std::string&, std::vector<bool>&, bool, const Range&,
                                 const Length&, const std::string&, const std::string&);
template FieldInfo& Fields::bind(const std::string&, std::vector<int64_t>&, bool, const Range&,
                                 const Length&, const std::string&, const std::string&);
template FieldInfo& Fields::bind(const std::string&, std::vector<double>&, bool, const Range&,
                                 const Length&, const std::string&, const std::string&);
template FieldInfo& Fields::bind(const std::string&, std::vector<std::string>&, bool, const Range&,
                                 const Length&, const std::string&, const std::string&);
template FieldInfo& Fields::bind(const std::string&, std::optional<int64_t>&, bool, const Range&,
                                 const Length&, const std::string&, const std::string&);
template FieldInfo& Fields::bind(const std::string&, std::optional<double>&, bool, const Range&,
                                 const Length&, const std::string&, const std::string&);

}  // namespace heed
