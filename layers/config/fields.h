#pragma once
// The fields of a config struct, declared once. A struct says
//   void fields(Fields& f) {
//     f.required("d_in", d_in, at_least(1), "width of x").example(4);
//     f.optional("dropout", dropout, probability, "chance to drop an attention weight");
//   }
// and that reads a config, finds unknown keys, prints the resolved config, writes the documentation
// and the JSON Schema, and lists the options that a gradient check has to try.
//
// A rule between fields goes into `void check(ConfigErrors& errors, const ConfigNode& at) const`,
// which runs when every field of the struct was read without a mistake:
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

// Numbers that a field takes. A bound that is open is not itself allowed.
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

// How many elements a list has.
struct Length {
  int64_t min = 0;
  std::optional<int64_t> max;
};
inline const Length any_length{};
inline Length exactly(int64_t count) { return {count, count}; }
inline Length at_least_elements(int64_t count) { return {count, {}}; }

// A part of a config whose fields depend on its `type`: a layer, an optimizer, a data set. In YAML
// `{type: multi_head_attention, num_heads: 4}`; `options` is that map without `type`. After
// reading, `options` is complete: defaults and what was filled in from the struct around it
// included.
struct Spec {
  std::string type;  // "": not given
  ConfigNode options;
  explicit operator bool() const { return !type.empty(); }
};
using LayerSpec = Spec;

// Fields of a nested layer that follow from fields of the struct around it unless they are given:
// {{"d_in", "d_model"}} fills d_in of the layer, if it has one, with d_model. {{"vocab_size", ""}}
// only allows vocab_size to be missing: whoever knows it completes the Spec later. One field
// divided by another, {{"d_head", "d_model/num_heads"}}, is possible too, and whether a choice was
// made, {{"rope", "position=rope"}}.
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

// All that is known about a field.
struct FieldInfo {
  std::string name;
  FieldType type = FieldType::string;
  bool required = false;
  std::string help;
  Range range;                       // numbers, and the elements of lists of numbers
  Length length;                     // lists
  std::vector<std::string> choices;  // choice
  std::string off_word;              // "none" or "all": may stand instead of a number; else ""
  std::string spec_kind;             // spec, spec_list: which types fit, "layer", "optimizer", ...
  Fills fills;                       // spec, spec_list
  std::vector<FieldInfo> group;      // group: its fields
  ConfigNode value;                  // of the live object: in a fresh one the default. Absent: none
  ConfigNode example_value;          // for required fields: a small value to check gradients with
  std::vector<ConfigNode> variants;  // more values that a gradient check should try
  std::string fill_name;             // what a struct around it calls it when filling in (see Fills)

  FieldInfo& example(ConfigNode node) {
    example_value = std::move(node);
    return *this;
  }
  FieldInfo& also_try(std::vector<ConfigNode> values) {
    variants = std::move(values);
    return *this;
  }
  // A struct around this one fills the field in under another name than the field's own.
  FieldInfo& fill_as(std::string other_name) {
    fill_name = std::move(other_name);
    return *this;
  }
};

struct FieldsAround;  // layers/config/nested.h

class Fields {
 public:
  // Lists the fields of a live object with their values.
  Fields() = default;
  // Reads them from `node`, a map, where an absent node counts as an empty one. Both arguments
  // outlive this object.
  Fields(const ConfigNode& node, ConfigErrors& errors) : node_(&node), errors_(&errors) {}

  // T: int64_t, double, or a std::vector of one of them (then the range is that of the elements).
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
  // T: int64_t or double. `off_word` in the place of a number gives std::nullopt.
  template <class T>
  FieldInfo& optional(const std::string& name, std::optional<T>& member, const Range& range,
                      const std::string& help, const std::string& off_word = "none") {
    return bind(name, member, false, range, any_length, off_word, help);
  }

  // One word of a list; `required` when the member is empty.
  FieldInfo& choice(const std::string& name, std::string& member, std::vector<std::string> choices,
                    const std::string& help);

  // A part chosen by its `type:` among the types registered for `kind`. Required when the member
  // has no type yet, unless `may_be_absent`. Options of the member hold where the config names the
  // same type or none.
  FieldInfo& section(const std::string& name, Spec& member, const std::string& kind,
                     const std::string& help, Fills fills = {}, bool may_be_absent = false);
  FieldInfo& layer(const std::string& name, LayerSpec& member, const std::string& help,
                   Fills fills = {}) {
    return section(name, member, "layer", help, std::move(fills));
  }
  // At least one layer; required when the member is empty.
  FieldInfo& layers(const std::string& name, std::vector<LayerSpec>& member,
                    const std::string& help, Fills fills = {});

  // A nested struct with its own fields. Its required fields are required even without the group.
  template <class Group>
  FieldInfo& group(const std::string& name, Group& member, const std::string& help) {
    return add_group(name, help, false, [&member](Fields& f) { return f.run(member); });
  }
  // The same, std::nullopt when the config does not have it.
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

  // Lets `config` declare its fields here, reads them, and runs its rules. True when every field
  // was read; mistakes are in the ConfigErrors.
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
  // What the config gives for a field; null when nothing, which is a mistake for a required one.
  const ConfigNode* given(const FieldInfo& info);
  // Nested parts may need any field around them, so they come when all fields are declared; then
  // keys that no field has. True when every field was read.
  bool finish();
  void read_section(FieldInfo& info, Spec& member);
  void read_layers(FieldInfo& info, std::vector<Spec>& member);
  void report_unknown_keys();

  const ConfigNode* node_ = nullptr;
  ConfigErrors* errors_ = nullptr;
  std::vector<FieldInfo> infos_;
  std::vector<std::function<void()>> deferred_;
  std::vector<std::string> failed_;  // fields that could not be read
};

struct NoFields {
  void fields(Fields&) {}
};

// Reads a config; mistakes go to `errors`, and the fields they are about keep their defaults.
template <class Config>
Config read_fields(const ConfigNode& node, ConfigErrors& errors) {
  Config config;
  Fields(node, errors).run(config);
  return config;
}

// The same, throwing ConfigError with every mistake.
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

// The values of a config, defaults included; read_fields reads it back. What would be filled in
// anyway (see Fills) is left out.
template <class Config>
ConfigNode write_fields(Config config) {
  Fields fields;
  fields.run(config);
  return fields.values();
}

// A config made in C++, held to the same ranges and rules as one from a file, its nested layers
// completed. Throws ConfigError.
template <class Config>
Config checked(const Config& config) {
  return read_fields<Config>(write_fields(config));
}

}  // namespace heed
