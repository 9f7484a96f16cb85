// What a config struct fills in for a part inside it: values for fields that the part's own map
// does not give. A model fills in the width of its attention, say.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "layers/config/fields.h"

namespace heed {

class Defaults {
 public:
  // What `fill` fills in, if there is one, for a part that has values of its own in these fields.
  explicit Defaults(const Fill& fill, std::vector<const Field*> own_values = {})
      : own_values_(std::move(own_values)) {
    if (fill) fill(*this);
  }

  // `value` may be a member of the struct around. Mistakes that it makes in the part are then
  // reported where the member was written. Names that the part does not have are ignored.
  // T: bool, int64_t, double, std::string or an optional number.
  template <class T>
  Defaults& set(const std::string& name, const T& value) {
    entries_.push_back({name, value, &value});
    return *this;
  }

  // The part's own value of a field; null if it gives none.
  template <class T>
  const T* own_value(const std::string& name) const {
    for (const Field* field : own_values_) {
      if (field->info.name == name) {
        return member_of<T>(*field);
      }
    }
    return nullptr;
  }

  struct Entry {
    std::string name;
    std::variant<bool, int64_t, double, std::string, std::optional<int64_t>, std::optional<double>>
        value;
    const void* source;
  };
  const std::vector<Entry>& entries() const { return entries_; }
  // What is filled in for this field, or null.
  const Entry* find(const FieldInfo& field) const;

 private:
  std::vector<const Field*> own_values_;
  std::vector<Entry> entries_;
};

// Sets the field to the value if its type can hold it; a whole number fits a real one.
bool assign(const Field& field, const Defaults::Entry& entry);
// True if the field has this value already.
bool has_value(const Field& field, const Defaults::Entry& entry);

}  // namespace heed
