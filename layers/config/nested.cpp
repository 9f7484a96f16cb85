#include "layers/config/nested.h"

#include <algorithm>

#include "layers/config/misplaced.h"
#include "layers/config/types.h"
#include "layers/config/values.h"

namespace heed {

namespace {

// Returns the field of this name, or null.
const FieldInfo* find_info(const std::vector<FieldInfo>& infos, const std::string& name) {
  const auto found = std::find_if(infos.begin(), infos.end(),
                                  [&](const FieldInfo& info) { return info.name == name; });
  return found == infos.end() ? nullptr : &*found;
}

// A source such as "d_model/num_heads", with the values of both fields (0: unknown). If the nested
// part itself gives the divisor, that value is used.
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
  q.number = dividend ? whole_number(dividend->value).value_or(0) : 0;
  q.by = whole_number(given.is_absent() && divisor ? divisor->value : given).value_or(0);
  return q;
}

// Returns the source that divides by the field `own`, or `own` if there is none. Used to report a
// divisor that does not divide at the location where it was written.
const std::string& quotient_by(const std::string& own, const Fills& fills) {
  const auto fill = std::find_if(fills.begin(), fills.end(), [&](const auto& candidate) {
    return candidate.second.ends_with("/" + own);
  });
  return fill == fills.end() ? own : fill->second;
}

// Returns the value of a source (see Fills): a field, a quotient of two, or whether a field has a
// given value. Absent if it is unknown or the quotient is not whole.
ConfigNode fill_value(const FieldsAround& around, const std::string& own,
                      const ConfigNode& options) {
  if (own.find('/') != std::string::npos) {
    const Quotient q = quotient_of(own, around.infos, options);
    return q.is_whole() ? ConfigNode(q.number / q.by) : ConfigNode();
  }
  if (const size_t equals = own.find('='); equals != std::string::npos) {
    const ConfigNode chosen = fill_value(around, own.substr(0, equals), options);
    return chosen.is_absent() ? chosen : ConfigNode(chosen.text() == own.substr(equals + 1));
  }
  const FieldInfo* source = find_info(around.infos, own);
  const bool failed =
      std::find(around.failed.begin(), around.failed.end(), own) != around.failed.end();
  return source && !failed ? source->value : ConfigNode();
}

}  // namespace

const std::string* fill_for(const Fills& fills, const FieldInfo& field) {
  const std::string& name = field.fill_name.empty() ? field.name : field.fill_name;
  const auto fill = std::find_if(fills.begin(), fills.end(),
                                 [&](const auto& candidate) { return candidate.first == name; });
  return fill == fills.end() ? nullptr : &fill->second;
}

namespace {

// Adds what can be said about the options of a part whose type is unknown: the mistakes that the
// `near` type, which may be meant, finds in them or, without one, the keys that no type has.
void check_options(const ConfigTypes& types, const std::string& near, const ConfigNode& node,
                   ConfigErrors& errors) {
  ConfigNode options = node;
  options.erase("type");
  if (const ConfigType* meant = types.find(near)) {
    ConfigErrors found;
    meant->complete(options, found);
    found.excuse([](const ConfigMistake& mistake) {  // it may be filled in
      return mistake.message.starts_with("missing, expected");
    });
    errors.add_all(found);
    return;
  }
  std::vector<FieldInfo> all;
  for (const std::string& name : types.names()) {
    for (const FieldInfo& field : types.find(name)->fields()) {
      if (find_info(all, field.name) == nullptr) {
        all.push_back(field);
      }
    }
  }
  for (const ConfigNode& option : options.children()) {
    if (find_info(all, option.key()) == nullptr) {
      errors.add_at(option.key_mark(), option.path(), unknown_key(option.key(), all, ""));
    }
  }
}

}  // namespace

bool read_spec(const FieldInfo& info, const ConfigNode& node, Spec& member, ConfigErrors& errors) {
  if (!has_kind(info, node, ConfigNode::Kind::map, errors)) {
    return false;
  }
  std::string type = member.type;
  FieldInfo type_info;
  type_info.type = FieldType::choice;
  type_info.spec_kind = info.spec_kind;
  type_info.choices = config_types(info.spec_kind).names();
  if (const ConfigNode* named = node.find("type")) {
    if (!has_kind(type_info, *named, ConfigNode::Kind::scalar, errors)) {
      return false;
    }
    type = named->text();
    if (!config_types(info.spec_kind).find(type)) {
      errors.add(*named, "unknown ", info.spec_kind, " ", in_words(*named),
                 suggestion(type, type_info.choices, "there are", ""));
      check_options(config_types(info.spec_kind), nearest(type, type_info.choices), node, errors);
      return false;
    }
  } else if (type.empty()) {
    errors.add_field(node, "type", "missing, expected ", expected(type_info));
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

void complete_spec(const FieldsAround& around, const FieldInfo& info, const ConfigNode& at,
                   Spec& member) {
  const ConfigType* type = config_types(info.spec_kind).find(member.type);
  const std::string path = join_path(around.node->path(), info.name);
  if (!type) {
    around.errors->add_at(at.mark(), path, text("unknown ", info.spec_kind, " ", member.type));
    return;
  }
  ConfigNode options = member.options.is_absent() ? ConfigNode::map() : member.options;
  if (&at == around.node) {  // not in the config: the options are defaults made in C++
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
    const ConfigNode value = fill_value(around, *own, options);
    const Quotient q = quotient_of(quotient_by(*own, info.fills), around.infos, written);
    if (q.is_uneven()) {
      around.errors->add_field(written.has(q.divisor) ? written : *around.node, q.divisor,
                               "must divide ", q.dividend, ": ", q.dividend, " is ", q.number, ", ",
                               q.divisor, " is ", q.by);
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
  around.errors->add_all(nested_errors, excused);
}

ConfigNode value_of(const FieldsAround& around, const FieldInfo& info, const Spec& spec) {
  const ConfigType* type = config_types(info.spec_kind).find(spec.type);
  static const std::vector<FieldInfo> none;
  const std::vector<FieldInfo>& fields = type ? type->fields() : none;
  ConfigNode node = ConfigNode::map({{"type", spec.type}});
  for (const ConfigNode& option : spec.options.children()) {
    const FieldInfo* field = find_info(fields, option.key());
    const std::string* own = field ? fill_for(info.fills, *field) : nullptr;
    const ConfigNode filled = own ? fill_value(around, *own, spec.options) : ConfigNode();
    if (!filled.is_scalar() || filled.text() != option.text()) {
      node.set(option.key(), option);
    }
  }
  return node;
}

}  // namespace heed
