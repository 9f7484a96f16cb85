// The fields of a config struct, declared once in its fields():
//   void fields(Fields& f) {
//     f.required("d_in", d_in, at_least(1), "width of x").example(4);
//     f.optional("dropout", dropout, probability, "chance to drop an attention weight");
//   }
// From this declaration come: reading a config, finding unknown keys, printing the resolved config,
// the documentation, the JSON Schema, and the list of options that a gradient check has to try.
//
// A rule between fields goes into `void check(ConfigErrors& errors, const ConfigNode& at) const`,
// which runs if every field of the struct was read without a mistake:
//   if (d_model % num_heads != 0)
//     errors.add_field(at, "num_heads", "does not divide d_model: d_model is ", d_model, ...);
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "layers/config/choice.h"
#include "layers/config/errors.h"

namespace heed {

class Defaults;

enum class Bound { closed, open };

// The numbers that a field accepts. An open bound is itself excluded.
struct Range {
  std::optional<double> min;
  std::optional<double> max;
  Bound min_bound = Bound::closed;
  Bound max_bound = Bound::closed;
  bool contains(double value) const;
  bool operator==(const Range&) const = default;
};
inline const Range any_number{};
inline Range at_least(double min) { return {min, {}}; }
inline Range above(double min) { return {min, {}, Bound::open}; }
inline Range in_range(double min, double max, Bound min_bound = Bound::closed,
                      Bound max_bound = Bound::closed) {
  return {min, max, min_bound, max_bound};
}
inline const Range probability = in_range(0, 1, Bound::closed, Bound::open);  // [0, 1): dropout

// The number of elements that a list may have.
struct Length {
  int64_t min = 0;
  std::optional<int64_t> max;
};
inline const Length any_length{};
inline Length exactly(int64_t count) { return {count, count}; }

enum class FieldType {
  boolean,
  integer,
  number,
  string,
  choice,
  boolean_list,
  integer_list,
  number_list,
  string_list,
  number_map,
  part,
  part_list,
  group
};

// What is declared about a field.
struct FieldInfo {
  std::string name;
  FieldType type = FieldType::string;
  bool required = false;
  std::string help;
  Range range;                       // numbers, and the elements of lists of numbers
  Length length;                     // lists
  std::vector<std::string> choices;  // choice
  std::string off_word;              // a word allowed instead of a number or part: "none"; or ""
  std::string part_kind;             // part, part_list: kind of the type, "layer", "optimizer", ...
  bool short_form = false;           // part: `byte` may be written for `{type: byte}`
  bool or_list = false;              // part: a list of parts is allowed, too: Choice::others;
                                     // string_list: one text is a list of it, and written so
  std::string usual_type;            // part: that of one that does not say its type; or ""
  std::string likely_type;           // part: the same, but it has to be said; or ""
  ConfigNode example_value;          // for required fields: a small value to check gradients with
  std::vector<ConfigNode> variants;  // more values that a gradient check should try
  std::string filled_as;             // the name under which it is filled in; "": its own
  std::string needed_flag;           // see only_with()
  bool shown = false;                // see shows()
  std::optional<bool> changes;       // see may_change()
  bool is_path = false;              // see names_file()

  // Only in what describe() returns:
  ConfigNode value;                // the current one, at first the default; absent: none
  std::vector<FieldInfo> group;    // group: its fields
  std::vector<std::string> fills;  // part: what the struct around it fills in

  FieldInfo& example(ConfigNode node) { return set(example_value, std::move(node)); }
  FieldInfo& also_try(std::vector<ConfigNode> values) { return set(variants, std::move(values)); }
  // Sets the name under which a struct around this one fills it in.
  FieldInfo& fill_as(std::string other_name) { return set(filled_as, std::move(other_name)); }
  // A flag of the same struct: where it is false, the field is refused and not written.
  FieldInfo& only_with(std::string flag) { return set(needed_flag, std::move(flag)); }
  // Another value shows in the names or shapes of tensors, as that of a required whole number does,
  // or in training alone, as a probability. All others change what weights mean.
  FieldInfo& shows(bool does = true) { return set(shown, does); }
  // A run that goes on may have another value. Of a group: of all its fields that do not say no.
  FieldInfo& may_change(bool may = true) { return set(changes, std::optional(may)); }
  // A path, or paths, in a config relative to its folder. What is there may be elsewhere when a run
  // goes on: the field of this name and "_fingerprint" knows it again.
  FieldInfo& names_file() { return set(is_path, true); }
  FieldInfo& likely(std::string other_type) { return set(likely_type, std::move(other_type)); }
  FieldInfo& usually(std::string other_type) { return set(usual_type, std::move(other_type)); }
  const std::string& fill_name() const { return filled_as.empty() ? name : filled_as; }

 private:
  template <class T>
  FieldInfo& set(T& member, T given) {
    member = std::move(given);
    return *this;
  }
};

// True if `fills`, of a part, has the field.
bool is_filled(const FieldInfo& field, const std::vector<std::string>& fills);

// Numbers by names that the config chooses, in the order in which they are written there.
using NamedNumbers = std::vector<std::pair<std::string, double>>;

// Where the value of a field is, and where the field is: a value, a part, a list of parts, a group.
using Value = std::variant<bool*, int64_t*, double*, std::string*, std::optional<int64_t>*,
                           std::optional<double>*, std::vector<bool>*, std::vector<int64_t>*,
                           std::vector<double>*, std::vector<std::string>*, NamedNumbers*>;
using Member = std::variant<Value, Choice*, std::vector<Choice>*, ConfigRef>;

// What a struct fills in for a part inside it (defaults.h):
//   f.layer("attention", attention, "...", [this](Defaults& d) { d.set("d_in", d_model); });
// It is called after the struct's own fields are read, or made, whatever their values are.
using Fill = std::function<void(Defaults&)>;

// A field of a struct that exists.
struct Field {
  FieldInfo info;
  Member member;
  Fill fill;  // of a part
};

// The member if it is a T; else null.
template <class T>
T* member_of(const Field& field) {
  if constexpr (std::is_same_v<T, Choice> || std::is_same_v<T, std::vector<Choice>>) {
    T* const* member = std::get_if<T*>(&field.member);
    return member == nullptr ? nullptr : *member;
  } else {
    const Value* value = std::get_if<Value>(&field.member);
    T* const* member = value == nullptr ? nullptr : std::get_if<T*>(value);
    return member == nullptr ? nullptr : *member;
  }
}

// The argument of fields(), which lists the fields of a struct with it. read.h and describe.h use
// the list.
class Fields {
 public:
  // T: int64_t, double, a std::vector of one of them, or NamedNumbers (the range then applies to
  // the elements).
  template <class T>
  FieldInfo& required(const std::string& name, T& member, const Range& range,
                      const std::string& help, const Length& length = any_length) {
    return add_value(name, &member, true, range, length, help);
  }
  // T: bool, int64_t, double, std::string, or a std::vector of one of them.
  template <class T>
  FieldInfo& required(const std::string& name, T& member, const std::string& help,
                      const Length& length = any_length) {
    return add_value(name, &member, true, any_number, length, help);
  }
  template <class T>
  FieldInfo& optional(const std::string& name, T& member, const Range& range,
                      const std::string& help, const Length& length = any_length) {
    return add_value(name, &member, false, range, length, help);
  }
  template <class T>
  FieldInfo& optional(const std::string& name, T& member, const std::string& help,
                      const Length& length = any_length) {
    return add_value(name, &member, false, any_number, length, help);
  }
  // T: int64_t or double. `off_word` instead of a number gives std::nullopt.
  template <class T>
  FieldInfo& optional(const std::string& name, std::optional<T>& member, const Range& range,
                      const std::string& help, const std::string& off_word = "none") {
    FieldInfo& info = add_value(name, &member, false, range, any_length, help);
    info.off_word = off_word;
    return info;
  }

  // One of the words in `choices`. Required if the member is empty.
  FieldInfo& choice(const std::string& name, std::string& member, std::vector<std::string> choices,
                    const std::string& help);

  // A part whose `type:` is one of those registered for `kind`. Required if nothing is chosen yet,
  // unless `may_be_absent`. If the config of the member is set, its values are defaults for the
  // same type, and nothing is filled in.
  FieldInfo& section(const std::string& name, Choice& member, const std::string& kind,
                     const std::string& help, Fill fill = {}, bool may_be_absent = false);
  FieldInfo& layer(const std::string& name, LayerChoice& member, const std::string& help,
                   Fill fill = {}) {
    return section(name, member, "layer", help, std::move(fill));
  }
  // A list of at least one layer. Required if the member is empty.
  FieldInfo& layers(const std::string& name, std::vector<LayerChoice>& member,
                    const std::string& help);

  // A nested struct with its own fields. Its required fields are required even if the config does
  // not have the group.
  template <class Group>
  FieldInfo& group(const std::string& name, Group& member, const std::string& help) {
    return add(name, FieldType::group, ConfigRef{&config_class<Group>, &member}, help);
  }

  std::vector<Field>& all() { return fields_; }

 private:
  FieldInfo& add(const std::string& name, FieldType type, Member member, const std::string& help);
  FieldInfo& add_value(const std::string& name, Value value, bool required, const Range& range,
                       const Length& length, const std::string& help);

  std::vector<Field> fields_;
};

struct NoFields {
  void fields(Fields&) {}
};

// The fields of a struct, in the order of their declaration.
std::vector<Field> fields_of(const ConfigRef& config);

template <class Config>
ConfigRef config_ref(Config& config) {
  return {&config_class<Config>, &config};
}

// The field of this name, or null.
Field* find_field(std::vector<Field>& fields, const std::string& name);
const FieldInfo* find_field(const std::vector<FieldInfo>& fields, const std::string& name);
// True if the flag that the field needs is false.
bool is_turned_off(const Field& field, std::vector<Field>& fields);

template <class T>
const T* Choice::find(const std::string& name) const {
  if (!has_config()) {
    return nullptr;
  }
  std::vector<Field> fields = fields_of(config());
  const Field* field = find_field(fields, name);
  return field == nullptr ? nullptr : member_of<T>(*field);
}

}  // namespace heed
