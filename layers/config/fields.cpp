#include "layers/config/fields.h"

#include <algorithm>
#include <type_traits>

#include "layers/config/misplaced.h"
#include "layers/config/nested.h"
#include "layers/config/types.h"
#include "layers/config/values.h"

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

// The type of field for a C++ type, and how a value is written in a config.
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

}  // namespace

bool Range::contains(double value) const {
  const bool above_min = !min || (min_bound == Bound::open ? value > *min : value >= *min);
  const bool below_max = !max || (max_bound == Bound::open ? value < *max : value <= *max);
  return above_min && below_max;
}

FieldInfo* Fields::find(const std::string& name) {
  const auto found = std::find_if(infos_.begin(), infos_.end(),
                                  [&](const FieldInfo& info) { return info.name == name; });
  return found == infos_.end() ? nullptr : &*found;
}

bool Fields::failed(const std::string& name) const {
  return std::find(failed_.begin(), failed_.end(), name) != failed_.end();
}

FieldInfo& Fields::add(const std::string& name, FieldType type, const std::string& help) {
  require<ConfigError>(!find(name), "Fields: the field ", name, " is declared twice");
  if (infos_.empty()) {
    infos_.reserve(16);  // few structs have more fields
  }
  FieldInfo& info = infos_.emplace_back();
  info.name = name;
  info.type = type;
  info.help = help;
  return info;
}

FieldsAround Fields::around() const { return {infos_, failed_, node_, errors_}; }

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

FieldInfo& Fields::section(const std::string& name, Spec& member, const std::string& kind,
                           const std::string& help, Fills fills, bool may_be_absent) {
  fill_types(kind);
  FieldInfo& info = add(name, FieldType::spec, help);
  info.required = member.type.empty() && !may_be_absent;
  info.spec_kind = kind;
  info.fills = std::move(fills);
  deferred_.push_back([this, name, &member] { read_section(*find(name), member); });
  return info;
}

FieldInfo& Fields::layers(const std::string& name, std::vector<LayerSpec>& member,
                          const std::string& help, Fills fills) {
  fill_types("layer");
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
  if (child && !read_spec(info, *child, member, *errors_)) {
    failed_.push_back(info.name);
    return;
  }
  if (reading() && member) {
    complete_spec(around(), info, child ? *child : *node_, member);
  }
  info.value = member ? value_of(around(), info, member) : ConfigNode();
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
    if (child && !read_spec(element, *place, member[i], *errors_)) {
      failed_.push_back(info.name);
      continue;
    }
    if (reading()) {
      complete_spec(around(), element, *place, member[i]);
    }
    info.value.append(value_of(around(), info, member[i]));
  }
}

FieldInfo& Fields::add_group(const std::string& name, const std::string& help, bool may_be_absent,
                             const std::function<bool(Fields&)>& run) {
  FieldInfo& info = add(name, FieldType::group, help);
  Fields listed;
  run(listed);
  if (!may_be_absent) {
    info.value = listed.values();
  }
  info.group = std::move(listed.infos_);
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
  Fields nested(child ? *child : empty, *errors_, topic_within(topic_, info));
  if (!run(nested)) {
    failed_.push_back(info.name);
  }
  info.value = nested.values();
}

bool Fields::finish() {
  for (const std::function<void()>& read : deferred_) {
    read();
  }
  deferred_.clear();
  if (reading()) {
    report_unknown_keys();
    if (node_->path().empty() && !errors_->empty()) {  // the whole config has been read
      explain_misplaced_keys(infos_, *node_, *errors_);
    }
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
  for (const ConfigNode& child : node_->children()) {
    if (find(child.key())) {
      continue;
    }
    errors_->add_at(child.key_mark(), child.path(), unknown_key(child.key(), infos_, topic_));
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
