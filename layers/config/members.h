// How many members a Config has, to see whether fields() declares them all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace heed {

namespace detail {

struct AnyMember {
  template <class T>
  operator T() const;  // NOLINT: stands for any member in an initialiser that is never run
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

// 0 for what is no aggregate (a Config with a constructor or private members): then nobody knows.
template <class Config>
constexpr int64_t config_members() {
  if constexpr (std::is_aggregate_v<Config>) {
    return detail::count_members<Config>();
  } else {
    return 0;
  }
}

}  // namespace heed
