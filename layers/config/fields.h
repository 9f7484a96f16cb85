#pragma once
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
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "layers/config/errors.h"

namespace heed {

enum class Bound { closed, open };

// The numbers that a field accepts. An open bound is itself excluded.
struct Range {
  std::optional<double> min;
  std::optional<double> max;
  Bound min_bound = Bound::closed;
  Bound max_bound = Bound::closed;
  bool contains(double value) const;
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
inline Length at_least_elements(int64_t count) { return {count, {}}; }

// A part of a config whose fields depend on its `type`: a layer, an optimizer, a data set. In YAML
// `{type: multi_head_attention, num_heads: 4}`; `options` is that map without `type`. After
// reading, `options` is complete: it includes defaults and the values filled in from the enclosing
// struct (see Fills).
struct Spec {
  std::string type;  // "": not given
  ConfigNode options;
  explicit operator bool() const { return !type.empty(); }
};
using LayerSpec = Spec;

// Fields of a nested layer that, unless given, are filled in from the enclosing struct. Pairs of
// {field of the nested layer, source}; fields that the layer does not have are ignored.
//   {"d_in", "d_model"}               the value of d_model
//   {"d_head", "d_model/num_heads"}   one field divided by another
//   {"rope", "position=rope"}         true if position is rope, otherwise false
//   {"vocab_size", ""}                not filled in, but may be absent: C++ code sets it later
using Fills = std::vector<std::pair<std::string, std::string>>;

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
  spec,
  spec_list,
  group
};

// What other tools call a field.
struct Synonym {
  std::string word;
  std::string rule;  // how the value follows from theirs; "": it is the same
};

// The declaration of a field.
struct FieldInfo {
  std::string name;
  FieldType type = FieldType::string;
  bool required = false;
  std::string help;
  Range range;                       // numbers, and the elements of lists of numbers
  Length length;                     // lists
  std::vector<std::string> choices;  // choice
  std::string off_word;              // a word allowed instead of a number: "none", "all"; or ""
  std::string spec_kind;             // spec, spec_list: kind of the type, "layer", "optimizer", ...
  Fills fills;                       // spec, spec_list
  std::vector<FieldInfo> group;      // group: its fields
  ConfigNode value;                  // current value, at first the default; absent: none
  ConfigNode example_value;          // for required fields: a small value to check gradients with
  std::vector<ConfigNode> variants;  // more values that a gradient check should try
  std::string fill_name;             // the name of this field in Fills; "": the same name
  std::vector<Synonym> synonyms;

  FieldInfo& example(ConfigNode node) {
    example_value = std::move(node);
    return *this;
  }
  FieldInfo& also_try(std::vector<ConfigNode> values) {
    variants = std::move(values);
    return *this;
  }
  // Sets the name under which Fills of an enclosing struct refer to this field.
  FieldInfo& fill_as(std::string other_name) {
    fill_name = std::move(other_name);
    return *this;
  }
  // Words of other tools, in the documentation and in the message about an unknown key.
  FieldInfo& also_known_as(const std::vector<std::string>& words, const std::string& rule = "") {
    for (const std::string& word : words) {
      synonyms.push_back({word, rule});
    }
    return *this;
  }
};

struct FieldsAround;  // layers/config/nested.h

class Fields {
 public:
  // Lists the fields of a struct with their current values.
  Fields() = default;
  // Reads the fields from `node`, a map; an absent node counts as an empty map. Both must outlive
  // this object. `heed layers TOPIC` describes the fields.
  Fields(const ConfigNode& node, ConfigErrors& errors, std::string topic = "")
      : node_(&node), errors_(&errors), topic_(std::move(topic)) {}

  // T: int64_t, double, or a std::vector of one of them (the range then applies to the elements).
  template <class T>
  FieldInfo& required(const std::string& name, T& member, const Range& range,
                      const std::string& help, const Length& length = any_length) {
    return bind(name, member, true, range, length, "", help);
  }
  // T: bool, int64_t, double, std::string, or a std::vector of one of them.
  template <class T>
  FieldInfo& required(const std::string& name, T& member, const std::string& help,
                      const Length& length = any_length) {
    return bind(name, member, true, any_number, length, "", help);
  }
  template <class T>
  FieldInfo& optional(const std::string& name, T& member, const Range& range,
                      const std::string& help, const Length& length = any_length) {
    return bind(name, member, false, range, length, "", help);
  }
  template <class T>
  FieldInfo& optional(const std::string& name, T& member, const std::string& help,
                      const Length& length = any_length) {
    return bind(name, member, false, any_number, length, "", help);
  }
  // T: int64_t or double. `off_word` instead of a number gives std::nullopt.
  template <class T>
  FieldInfo& optional(const std::string& name, std::optional<T>& member, const Range& range,
                      const std::string& help, const std::string& off_word = "none") {
    return bind(name, member, false, range, any_length, off_word, help);
  }

  // One of the words in `choices`. Required if the member is empty.
  FieldInfo& choice(const std::string& name, std::string& member, std::vector<std::string> choices,
                    const std::string& help);

  // A part whose `type:` is one of those registered for `kind`. Required if the member has no type
  // yet, unless `may_be_absent`. The member's options serve as defaults if the config names the
  // same type or none.
  FieldInfo& section(const std::string& name, Spec& member, const std::string& kind,
                     const std::string& help, Fills fills = {}, bool may_be_absent = false);
  FieldInfo& layer(const std::string& name, LayerSpec& member, const std::string& help,
                   Fills fills = {}) {
    return section(name, member, "layer", help, std::move(fills));
  }
  // A list of at least one layer. Required if the member is empty.
  FieldInfo& layers(const std::string& name, std::vector<LayerSpec>& member,
                    const std::string& help, Fills fills = {});

  // A nested struct with its own fields. Its required fields are required even if the config does
  // not have the group.
  template <class Group>
  FieldInfo& group(const std::string& name, Group& member, const std::string& help) {
    return add_group(name, help, false, [&member](Fields& f) { return f.run(member); });
  }
  // An optional group: std::nullopt if the config does not have it.
  template <class Group>
  FieldInfo& group(const std::string& name, std::optional<Group>& member, const std::string& help) {
    return add_group(name, help, !member.has_value(), [&member](Fields& f) {
      Group nested = member.value_or(Group{});
      const bool ok = f.run(nested);
      if (f.reading()) {
        member = std::move(nested);
      }
      return ok;
    });
  }

  // Calls config.fields(), reads the fields, then calls config.check(). Returns true if every field
  // was read; mistakes go to the ConfigErrors.
  template <class Config>
  bool run(Config& config) {
    config.fields(*this);
    const bool ok = finish();
    if constexpr (requires { &Config::check; }) {
      if (ok && reading()) {
        config.check(*errors_, *node_);
      }
    }
    return ok;
  }

  const std::vector<FieldInfo>& infos() const { return infos_; }
  // A map of every field that has a value, in the order of declaration.
  ConfigNode values() const;

 private:
  // Instantiated in fields.cpp for bool, int64_t, double, std::string, vectors of these, and
  // optional numbers.
  template <class T>
  FieldInfo& bind(const std::string& name, T& member, bool required, const Range& range,
                  const Length& length, const std::string& off_word, const std::string& help);
  FieldInfo& add(const std::string& name, FieldType type, const std::string& help);
  FieldInfo& add_group(const std::string& name, const std::string& help, bool may_be_absent,
                       const std::function<bool(Fields&)>& run);
  void read_group(FieldInfo& info, const std::function<bool(Fields&)>& run);
  bool reading() const { return node_ != nullptr; }
  FieldInfo* find(const std::string& name);
  bool failed(const std::string& name) const;
  FieldsAround around() const;
  // Returns the field's node in the config, or null if absent. Reports an absent required field.
  const ConfigNode* given(const FieldInfo& info);
  // Reads the nested parts, which may depend on any field of this struct and so have to wait until
  // all are declared. Then reports unknown keys. Returns true if every field was read.
  bool finish();
  void read_section(FieldInfo& info, Spec& member);
  void read_layers(FieldInfo& info, std::vector<Spec>& member);
  void report_unknown_keys();

  const ConfigNode* node_ = nullptr;
  ConfigErrors* errors_ = nullptr;
  std::string topic_;
  std::vector<FieldInfo> infos_;
  std::vector<std::function<void()>> deferred_;
  std::vector<std::string> failed_;  // fields that could not be read
};

struct NoFields {
  void fields(Fields&) {}
};

// Reads a config. Mistakes go to `errors`, and the fields concerned keep their defaults.
template <class Config>
Config read_fields(const ConfigNode& node, ConfigErrors& errors) {
  Config config;
  Fields(node, errors).run(config);
  return config;
}

// The same, but throws ConfigError with all mistakes.
template <class Config>
Config read_fields(const ConfigNode& node) {
  ConfigErrors errors;
  Config config = read_fields<Config>(node, errors);
  errors.throw_if_any();
  return config;
}

template <class Config>
std::vector<FieldInfo> list_fields() {
  Config config;
  Fields fields;
  fields.run(config);
  return fields.infos();
}

// Returns the values of a config, defaults included, for read_fields to read back. Leaves out
// options that would be filled in with the same value (see Fills).
template <class Config>
ConfigNode write_fields(Config config) {
  Fields fields;
  fields.run(config);
  return fields.values();
}

// Checks a config made in C++ against the same ranges and rules as one from a file, and returns it
// with its nested layers completed. Throws ConfigError.
template <class Config>
Config checked(const Config& config) {
  return read_fields<Config>(write_fields(config));
}

}  // namespace heed
