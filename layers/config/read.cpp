#include "layers/config/read.h"

#include <algorithm>

#include "layers/config/defaults.h"
#include "layers/config/left_out.h"
#include "layers/config/types.h"
#include "layers/config/unknown_key.h"
#include "layers/config/values.h"

namespace heed {

namespace {

bool is_value(const Field& field) { return std::holds_alternative<Value>(field.member); }

// The type that the map of a part chooses; `usual` if it does not say. Null after a mistake; but if
// none is given, the likely type, to find what else is wrong.
const ConfigType* chosen_type(const FieldInfo& info, const ConfigNode& node,
                              const std::string& usual, ConfigErrors& errors) {
  if (!has_kind(info, node, ConfigNode::Kind::map, errors)) {
    return nullptr;
  }
  const ConfigTypes& types = config_types(info.part_kind);
  const FieldInfo of_type{
      .type = FieldType::choice, .choices = types.names(), .part_kind = info.part_kind};
  const ConfigNode* named = node.find("type");
  if (named == nullptr && usual.empty()) {
    errors.add_field(node, "type", "missing, expected ", expected(of_type));
    return node.size() > 0 ? types.find(info.likely_type) : nullptr;
  }
  if (named == nullptr) {
    return types.find(usual);
  }
  if (!has_kind(of_type, *named, ConfigNode::Kind::scalar, errors)) {
    return nullptr;
  }
  const ConfigType* type = types.find(named->text());
  if (type == nullptr) {
    const std::string extra = belongs_to_extra(info.part_kind, named->text());
    errors.add(*named, "unknown ", info.part_kind, " ", in_words(*named),
               extra.empty() ? suggested_type(named->text(), types) : extra);
  }
  return type;
}

// The node of a part or group that the config does not have.
ConfigNode empty_part(const ConfigNode& around, const std::string& name) {
  ConfigNode empty = ConfigNode::map();
  empty.set_mark(around.mark());
  empty.set_path(join_path(around.path(), name));
  return empty;
}

// The values that runs have under keys that they do not use: a build without these opens them too.
bool is_off(const ConfigNode& value) {
  const std::string& word = value.text();
  return (value.is_map() || value.size() == 0) &&
         std::all_of(value.children().begin(), value.children().end(), is_off) &&
         (word.empty() || word == "none" || word == "false" || word == "1");
}

bool is_nothing(const Field& field) {
  const auto* part = member_of<Choice>(field);
  const auto* parts = member_of<std::vector<Choice>>(field);
  return (part != nullptr && !*part) || (parts != nullptr && parts->empty());
}

}  // namespace

// Reads the parts of a struct: which type each has, its fields, some of which the struct around
// fills in, and where a mistake in one of these belongs.
class PartReader {
 public:
  explicit PartReader(StructReader& around) : around_(around) {}

  // `child` is null if the config does not have the part. Returns false if it is unknown which type
  // is meant.
  bool read(const Field& field, const ConfigNode* child) {
    if (auto* parts = member_of<std::vector<Choice>>(field)) {
      return read_list(field, child, *parts, {});
    }
    Choice& part = *member_of<Choice>(field);
    if (field.info.or_list && (child != nullptr ? child->is_list() : !part.others.empty())) {
      Field list = field;
      list.info.length.min = std::max<int64_t>(1, list.info.length.min);
      std::vector<Choice> all = part.all();
      const bool ok = read_list(list, child, all, part.type());
      part = Choice::list(all);
      return ok;
    }
    return read_one(field, child, part);
  }

 private:
  // An element that does not say its type has the usual one.
  bool read_list(const Field& field, const ConfigNode* child, std::vector<Choice>& parts,
                 const Choice& usual) {
    if (child != nullptr) {
      if (!has_kind(field.info, *child, ConfigNode::Kind::list, around_.errors_) ||
          !has_length(field.info, *child, around_.errors_)) {
        return false;
      }
      parts.assign(static_cast<size_t>(child->size()), usual);
    }
    Field element{element_of(field.info), field.member, field.fill};
    bool ok = true;
    for (size_t i = 0; i < parts.size(); ++i) {
      element.info.name = text(field.info.name, ".", i);
      const ConfigNode* node = child ? &child->at(static_cast<int64_t>(i)) : nullptr;
      ok = read_one(element, node, parts[i]) && ok;
    }
    return ok;
  }

  bool read_one(const Field& field, const ConfigNode* child, Choice& part) {
    const std::string& off = field.info.off_word;
    const bool says_off = child != nullptr
                              ? child->is_scalar() && !child->quoted() && child->text() == off
                              : part.type() == off;
    if (!off.empty() && says_off) {
      part = Choice();
      return true;
    }
    ConfigNode options = child != nullptr ? *child : empty_part(around_.node_, field.info.name);
    if (field.info.short_form && options.is_scalar() && !options.is_null()) {
      options = empty_part(around_.node_, field.info.name);
      options.set("type", *child);
    }
    const ConfigType* type =
        child != nullptr ? chosen_type(field.info, options,
                                       part ? part.type() : field.info.usual_type, around_.errors_)
                         : &config_types(field.info.part_kind).get(part.type());
    if (type == nullptr) {
      return false;
    }
    const bool has_values = part.type() == type->name && part.has_config();
    if (!has_values) {
      part = new_choice(*type);
    }
    options.erase("type");
    ConfigErrors errors;
    StructReader reader(part.own_config(), options, errors, type->name,
                        has_values && around_.is_made_);
    reader.read_values(has_values ? Fill() : field.fill);
    reader.finish();
    add_mistakes(errors, reader);
    return true;
  }

  // A mistake at a field that was filled in gets the place where its value was written. It is left
  // out if that value is wrong, or if a rule of the struct around already reports it.
  void add_mistakes(const ConfigErrors& of_part, const StructReader& part) {
    for (ConfigMistake mistake : of_part.all()) {
      const auto filled = part.filled_.find(mistake.path);
      if (filled == part.filled_.end()) {
        around_.errors_.add(std::move(mistake));
      } else if (const auto written = around_.place_of(filled->second)) {
        mistake.mark = written->file ? *written : mistake.mark;
        around_.of_filled_.push_back(std::move(mistake));
      }
    }
  }

  StructReader& around_;
};

StructReader::StructReader(const ConfigRef& config, const ConfigNode& node, ConfigErrors& errors,
                           const std::string& topic, bool is_made)
    : config_(config),
      node_(node),
      errors_(errors),
      topic_(topic),
      is_made_(is_made),
      fields_(fields_of(config)),
      states_(fields_.size(), State::absent) {}

void StructReader::read_values(const Fill& fill) {
  std::vector<const Field*> given;
  for (size_t k = 0; k < fields_.size(); ++k) {
    const ConfigNode* child = node_.find(fields_[k].info.name);
    if (is_value(fields_[k]) && (is_made_ || child != nullptr)) {
      set_state(k, is_made_ ? check_value(fields_[k], node_, errors_)
                            : read_value(fields_[k], *child, errors_));
      if (states_[k] == State::given) given.push_back(&fields_[k]);
    }
  }
  const Defaults defaults(fill, std::move(given));
  for (size_t k = 0; k < fields_.size(); ++k) {
    const Field& field = fields_[k];
    if (const auto* group = std::get_if<ConfigRef>(&field.member)) {
      set_state(k, read_group(field.info, *group));
    } else if (is_value(field) && states_[k] == State::absent) {
      const Defaults::Entry* entry = defaults.find(field.info);
      if (entry != nullptr && assign(field, *entry)) {
        filled_[join_path(node_.path(), field.info.name)] = entry->source;
        set_state(k, check_value(field, node_, errors_));
      } else {
        require_given(k);
      }
    }
  }
}

bool StructReader::read_group(const FieldInfo& info, const ConfigRef& group) {
  const ConfigNode* child = node_.find(info.name);
  if (child != nullptr && !has_kind(info, *child, ConfigNode::Kind::map, errors_)) {
    return false;
  }
  const ConfigNode node = child != nullptr ? *child : empty_part(node_, info.name);
  const std::string& topic = topic_.empty() ? info.name : topic_;  // of a section, its own name
  return read_struct(group, node, errors_, topic, is_made_);
}

void StructReader::read_part(const std::string& name, const Sizes& sizes, bool are_known) {
  sizes_are_known_ = are_known;
  Field* const part = find_field(fields_, name);
  part->fill = [sizes](Defaults& d) {
    for (const auto& [field, size] : sizes) d.set(field, size);
  };
  read_part(static_cast<size_t>(part - fields_.data()));
}

void StructReader::read_part(size_t k) {
  const ConfigNode* child = node_.find(fields_[k].info.name);
  if (child == nullptr && is_nothing(fields_[k])) {
    require_given(k);
  } else {
    set_state(k, PartReader(*this).read(fields_[k], child));
  }
}

bool StructReader::finish() {
  for (size_t k = 0; k < fields_.size(); ++k) {
    if (states_[k] == State::absent && !is_value(fields_[k])) read_part(k);
  }
  const bool ok = is_map_of_known_keys() && !has_failed();
  const int64_t before = errors_.count();
  if (ok) {
    config_.of->check(config_.config, errors_, node_);
  }
  if (errors_.count() == before) {
    for (const ConfigMistake& mistake : of_filled_) errors_.add(mistake);
  }
  return ok;
}

bool StructReader::is_map_of_known_keys() {
  const FieldInfo map{.type = FieldType::group};
  if (!node_.is_absent() && !has_kind(map, node_, ConfigNode::Kind::map, errors_)) {
    return false;
  }
  std::vector<FieldInfo> known;
  for (const Field& field : fields_) known.push_back(field.info);
  for (const ConfigNode& child : node_.children()) {
    const Field* const field = find_field(fields_, child.key());
    if (const std::string extra = belongs_to_extra("keys", child.path()); !extra.empty()) {
      if (!is_off(child)) errors_.add_at(child.key_mark(), child.path(), "unknown key" + extra);
    } else if (field == nullptr) {
      errors_.add(
          {child.key_mark(), child.path(), unknown_key(child.key(), known, topic_), child.key()});
    } else if (is_turned_off(*field, fields_)) {
      errors_.add_field(node_, child.key(), "has no effect with ", field->info.needed_flag,
                        " false; leave one of them out");
    }
  }
  return true;
}

bool StructReader::has_failed() const {
  return std::find(states_.begin(), states_.end(), State::failed) != states_.end();
}

void StructReader::require_given(size_t k) {
  const FieldInfo& info = fields_[k].info;
  if (!info.required) {
    return;
  }
  states_[k] = State::failed;
  if (node_.is_map() || node_.is_absent()) {
    errors_.add_field(node_, info.name, "missing, expected ", expected(info),
                      info.help.empty() ? "" : " (" + info.help + ")");
  }
}

std::optional<ConfigMark> StructReader::place_of(const void* source) const {
  bool is_known = !has_failed() && sizes_are_known_;  // of a value that is not a field's
  ConfigMark mark;
  for (size_t k = 0; k < fields_.size(); ++k) {
    const Value* value = std::get_if<Value>(&fields_[k].member);
    if (value != nullptr && std::visit([&](const void* at) { return at == source; }, *value)) {
      is_known = states_[k] != State::failed;
      mark = node_.get(fields_[k].info.name).mark();
    }
  }
  return is_known ? std::optional(mark) : std::nullopt;
}

bool read_struct(const ConfigRef& config, const ConfigNode& node, ConfigErrors& errors,
                 const std::string& topic, bool is_made) {
  StructReader reader(config, node, errors, topic, is_made);
  reader.read_values();
  return reader.finish();
}

void check_struct(const ConfigRef& config) {
  ConfigErrors errors;
  read_struct(config, ConfigNode::map(), errors, "", /*is_made=*/true);
  errors.throw_if_any();
}

Choice read_options(const std::string& kind, const std::string& type, const ConfigNode& options) {
  fill_types(kind);
  Choice choice = new_choice(config_types(kind).get(type));
  ConfigErrors errors;
  read_struct(choice.own_config(), options, errors, type);
  errors.throw_if_any();
  return choice;
}

}  // namespace heed
