#include "layers/config/defaults.h"

#include <algorithm>
#include <type_traits>

namespace heed {

namespace {

// What a member of type T becomes of a value of type V; nullopt if it cannot hold it.
template <class T, class V>
std::optional<T> as(const V& value) {
  if constexpr (std::is_same_v<T, V> || std::is_same_v<T, std::optional<V>>) {
    return T(value);
  } else if constexpr (std::is_same_v<V, std::optional<T>>) {
    return value;
  } else if constexpr (std::is_same_v<T, double> && std::is_same_v<V, int64_t>) {
    return static_cast<double>(value);
  } else {
    return std::nullopt;
  }
}

// f(the field's value, the entry's as its type or nullopt); false for a field that is no value.
template <class F>
bool with_value(const Field& field, const Defaults::Entry& entry, F f) {
  const Value* value = std::get_if<Value>(&field.member);
  return value != nullptr && std::visit(
                                 [&](auto* at, const auto& filled) {
                                   return f(*at, as<std::remove_pointer_t<decltype(at)>>(filled));
                                 },
                                 *value, entry.value);
}

}  // namespace

const Defaults::Entry* Defaults::find(const FieldInfo& field) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.name == field.fill_name();
  });
  return found == entries_.end() ? nullptr : &*found;
}

bool assign(const Field& field, const Defaults::Entry& entry) {
  return with_value(field, entry, [](auto& at, const auto& value) {
    if (value) at = *value;
    return value.has_value();
  });
}

bool has_value(const Field& field, const Defaults::Entry& entry) {
  return with_value(field, entry,
                    [](const auto& at, const auto& value) { return value && at == *value; });
}

}  // namespace heed
