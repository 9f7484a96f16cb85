// Counts the members of a Config, to check that fields() declares all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace heed {

namespace detail {

struct AnyMember {
  template <class T>
  operator T() const;  // NOLINT: initialises a member of any type, in code that never runs
};

template <class Config, size_t... I>
constexpr bool takes_members(std::index_sequence<I...>) {
  return requires { Config{((void)I, AnyMember{})...}; };
}

template <class Config, size_t N = 0>
constexpr int64_t count_members() {
  if constexpr (takes_members<Config>(std::make_index_sequence<N + 1>{})) {
    return count_members<Config, N + 1>();
  } else {
    return N;
  }
}

}  // namespace detail

// Returns the number of members of Config, found by trying how many initialisers it takes. 0 means
// unknown: Config is not an aggregate, since it has a constructor or private members.
template <class Config>
constexpr int64_t config_members() {
  if constexpr (std::is_aggregate_v<Config>) {
    return detail::count_members<Config>();
  } else {
    return 0;
  }
}

}  // namespace heed
