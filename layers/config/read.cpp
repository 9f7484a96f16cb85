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

// The type that the map of a part chooses; `usual` if it does not say. Null after a mistake.
const ConfigType* chosen_type(const FieldInfo& info, const ConfigNode& node,
                              const std::string& usual, ConfigErrors& errors) {
  if (!has_kind(info, node, ConfigNode::Kind::map, errors)) {
    return nullptr;
  }
  const ConfigTypes& types = config_types(info.part_kind);
  FieldInfo of_type;
  of_type.type = FieldType::choice;
  of_type.part_kind = info.part_kind;
  of_type.choices = types.names();
  const ConfigNode* named = node.find("type");
  if (named == nullptr && usual.empty()) {
    errors.add_field(node, "type", "missing, expected ", expected(of_type));
    return nullptr;
  }
  if (named == nullptr) {
    return types.find(usual);
  }
  if (!has_kind(of_type, *named, ConfigNode::Kind::scalar, errors)) {
    return nullptr;
  }
  const ConfigType* type = types.find(named->text());
  if (type == nullptr) {
    const std::string wing = belongs_to_wing(info.part_kind, named->text());
    errors.add(*named, "unknown ", info.part_kind, " ", in_words(*named),
               wing.empty() ? suggestion(named->text(), of_type.choices, "there are", "") : wing);
  }
  return type;
}

// A field of a part that was filled in from the struct around it: its path, where the value was
// written, and whether that value is valid.
struct Filled {
  std::string path;
  ConfigMark source;
  bool is_known;
};

// Reads one struct from its map: first the keys that are there, then the defaults of the others,
// then the parts, whose fields may be filled in from those values, and last the rules between
// fields. Or checks a struct that C++ code has filled: then every field counts as given.
class StructReader {
 public:
  StructReader(const ConfigRef& config, const ConfigNode& node, ConfigErrors& errors,
               const std::string& topic)
      : config_(config),
        node_(node),
        errors_(errors),
        topic_(topic),
        fields_(fields_of(config)),
        states_(fields_.size(), State::absent) {}

  bool read() {
    for (size_t k = 0; k < fields_.size(); ++k) {
      const ConfigNode* child = node_.find(fields_[k].info.name);
      if (child != nullptr && is_value(fields_[k])) {
        set_state(k, read_value(fields_[k], *child, errors_));
      }
    }
    return complete();
  }

  // For a part: `fill` is that of the struct around it, `around` its reader. The fields that were
  // filled are added to `filled`.
  bool read(const Fill& fill, const StructReader& around, std::vector<Filled>& filled) {
    fill_ = fill;
    around_ = &around;
    filled_ = &filled;
    return read();
  }

  bool check() {
    is_made_ = true;
    for (size_t k = 0; k < fields_.size(); ++k) {
      if (is_value(fields_[k])) {
        set_state(k, check_value(fields_[k], node_.mark(), path_of(fields_[k].info), errors_));
      }
    }
    return complete();
  }

 private:
  enum class State { absent, given, failed };

  void set_state(size_t k, bool ok) { states_[k] = ok ? State::given : State::failed; }
  bool has_failed() const {
    return std::find(states_.begin(), states_.end(), State::failed) != states_.end();
  }
  std::string path_of(const FieldInfo& info) const { return join_path(node_.path(), info.name); }

  bool complete() {
    complete_values();
    for (size_t k = 0; k < fields_.size(); ++k) complete_part(k);
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

  void complete_values() {
    std::vector<const Field*> given;
    for (size_t k = 0; k < fields_.size(); ++k) {
      if (states_[k] == State::given) given.push_back(&fields_[k]);
    }
    const Defaults defaults(fill_, std::move(given));
    for (size_t k = 0; k < fields_.size(); ++k) {
      const Field& field = fields_[k];
      if (const auto* group = std::get_if<ConfigRef>(&field.member)) {
        set_state(k, read_group(field.info, *group));
      } else if (is_value(field) && states_[k] == State::absent) {
        const Defaults::Entry* entry = defaults.find(field.info);
        if (entry != nullptr && assign(field, *entry)) {
          filled_->push_back(around_->source_of(*entry, path_of(field.info)));
          set_state(k, check_value(field, node_.mark(), path_of(field.info), errors_));
        } else {
          require_given(k);
        }
      }
    }
  }

  Filled source_of(const Defaults::Entry& entry, const std::string& path) const {
    for (size_t k = 0; k < fields_.size(); ++k) {
      const Value* value = std::get_if<Value>(&fields_[k].member);
      if (value != nullptr &&
          std::visit([&](const void* at) { return at == entry.source; }, *value)) {
        const ConfigNode& node = node_.get(fields_[k].info.name);
        return {path, node.mark(), states_[k] != State::failed};
      }
    }
    return {path, {}, !has_failed()};  // computed from some of them
  }

  // Reports an absent field that is required.
  void require_given(size_t k) {
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

  // The node of a part or group that the config does not have.
  ConfigNode empty_part(const FieldInfo& info) const {
    ConfigNode empty = ConfigNode::map();
    empty.set_mark(node_.mark());
    empty.set_path(path_of(info));
    return empty;
  }

  bool read_group(const FieldInfo& info, const ConfigRef& group) {
    const ConfigNode* child = node_.find(info.name);
    if (child != nullptr && !has_kind(info, *child, ConfigNode::Kind::map, errors_)) {
      return false;
    }
    const ConfigNode node = child != nullptr ? *child : empty_part(info);
    StructReader reader(group, node, errors_, topic_within(topic_, info));
    return is_made_ ? reader.check() : reader.read();
  }

  void complete_part(size_t k) {
    const Field& field = fields_[k];
    const ConfigNode* child = node_.find(field.info.name);
    if (Choice* part = member_of<Choice>(field)) {
      if (field.info.or_list && (child != nullptr ? child->is_list() : !part->others.empty())) {
        Field list = field;
        list.info.length.min = std::max<int64_t>(1, list.info.length.min);
        std::vector<Choice> all = part->all();
        set_state(k, read_list(list, child, all, part->type()));
        *part = Choice::list(all);
      } else {
        child == nullptr && !*part ? require_given(k)
                                   : set_state(k, read_part(field, child, *part));
      }
    } else if (auto* parts = member_of<std::vector<Choice>>(field)) {
      child == nullptr && parts->empty() ? require_given(k)
                                         : set_state(k, read_list(field, child, *parts));
    }
  }

  // An element that does not say its type has the usual one.
  bool read_list(const Field& field, const ConfigNode* child, std::vector<Choice>& parts,
                 const Choice& usual = {}) {
    if (child != nullptr) {
      if (!has_kind(field.info, *child, ConfigNode::Kind::list, errors_) ||
          !has_length(field.info, *child, errors_)) {
        return false;
      }
      parts.assign(static_cast<size_t>(child->size()), usual);
    }
    Field element{element_of(field.info), field.member, field.fill};
    bool ok = true;
    for (size_t i = 0; i < parts.size(); ++i) {
      element.info.name = text(field.info.name, ".", i);
      const ConfigNode* node = child ? &child->at(static_cast<int64_t>(i)) : nullptr;
      ok = read_part(element, node, parts[i]) && ok;
    }
    return ok;
  }

  // `child` is null if the config does not have the part. Returns false if it is unknown which type
  // is meant.
  bool read_part(const Field& field, const ConfigNode* child, Choice& part) {
    const std::string& off = field.info.off_word;
    const bool says_off = child != nullptr
                              ? child->is_scalar() && !child->quoted() && child->text() == off
                              : part.type() == off;
    if (!off.empty() && says_off) {
      part = Choice();
      return true;
    }
    if (field.info.short_form && child != nullptr && child->is_scalar() && !child->is_null()) {
      ConfigNode whole = empty_part(field.info);
      whole.set("type", *child);
      return read_part(field, &whole, part);
    }
    const ConfigType* type =
        child != nullptr
            ? chosen_type(field.info, *child, part ? part.type() : field.info.usual_type, errors_)
            : &config_types(field.info.part_kind).get(part.type());
    if (type == nullptr) {
      return false;
    }
    const bool has_values = part.type() == type->name && part.has_config();
    if (!has_values) {
      part = new_choice(*type);
    }
    ConfigNode options = child != nullptr ? *child : empty_part(field.info);
    options.erase("type");
    ConfigErrors of_part;
    std::vector<Filled> filled;
    StructReader reader(part.own_config(), options, of_part, type->name);
    if (has_values && is_made_) {
      reader.check();
    } else {
      reader.read(has_values ? Fill() : field.fill, *this, filled);
    }
    add_mistakes(of_part, filled);
    return true;
  }

  // Adds the mistakes of a part. A mistake at a field that was filled in gets the place where its
  // value was written. It is left out if a rule of the struct around it already reports it.
  void add_mistakes(const ConfigErrors& of_part, const std::vector<Filled>& filled) {
    for (const ConfigMistake& mistake : of_part.all()) {
      const auto found = std::find_if(filled.begin(), filled.end(), [&](const Filled& field) {
        return field.path == mistake.path;
      });
      if (found == filled.end()) {
        errors_.add(mistake);
      } else if (found->is_known) {
        of_filled_.push_back(mistake);
        of_filled_.back().mark = found->source.file ? found->source : mistake.mark;
      }
    }
  }

  // Reports keys that are unknown or have no effect. Returns false if the node is not a map.
  bool is_map_of_known_keys() {
    if (!node_.is_map() && !node_.is_absent()) {
      errors_.add(node_, node_.is_null() ? "missing value, expected a map" : "expected a map, got ",
                  node_.is_null() ? "" : in_words(node_));
      return false;
    }
    std::vector<FieldInfo> known;
    for (const Field& field : fields_) known.push_back(field.info);
    for (const ConfigNode& child : node_.children()) {
      const Field* const field = find_field(fields_, child.key());
      if (field == nullptr) {
        errors_.add(
            {child.key_mark(), child.path(), unknown_key(child.key(), known, topic_), child.key()});
      } else if (is_turned_off(*field, fields_)) {
        errors_.add_field(node_, child.key(), "has no effect with ", field->info.needed_flag,
                          " false; leave one of them out");
      }
    }
    return true;
  }

  const ConfigRef config_;
  const ConfigNode& node_;
  ConfigErrors& errors_;
  const std::string topic_;
  std::vector<Field> fields_;
  std::vector<State> states_;  // of each field
  bool is_made_ = false;       // by C++
  Fill fill_;
  const StructReader* around_ = nullptr;
  std::vector<Filled>* filled_ = nullptr;
  std::vector<ConfigMistake> of_filled_;
};

}  // namespace

bool read_struct(const ConfigRef& config, const ConfigNode& node, ConfigErrors& errors,
                 const std::string& topic) {
  return StructReader(config, node, errors, topic).read();
}

bool check_struct(const ConfigRef& config, ConfigErrors& errors) {
  return StructReader(config, ConfigNode::map(), errors, "").check();
}

Choice read_options(const std::string& kind, const std::string& type, const ConfigNode& options,
                    ConfigErrors& errors) {
  fill_types(kind);
  Choice choice = new_choice(config_types(kind).get(type));
  const int64_t before = errors.count();
  read_struct(choice.own_config(), options, errors, type);
  return errors.count() == before ? choice : Choice();
}

Choice read_options(const std::string& kind, const std::string& type, const ConfigNode& options) {
  ConfigErrors errors;
  Choice choice = read_options(kind, type, options, errors);
  errors.throw_if_any();
  return choice;
}

}  // namespace heed
