#include <CLI/CLI.hpp>

#include "tools/commands/command.h"

namespace heed::cli {

Arguments& Arguments::positional(const std::string& name, std::string& value,
                                 const std::string& help, bool required) {
  app_.add_option(name, value, help)->required(required);
  return *this;
}

Arguments& Arguments::positionals(const std::string& name, std::vector<std::string>& values,
                                  const std::string& help) {
  app_.add_option(name, values, help)->required();
  return *this;
}

Arguments& Arguments::flag(const std::string& name, bool& value, const std::string& help) {
  app_.add_flag(name, value, help);
  return *this;
}

Arguments& Arguments::required_option(const std::string& name, std::string& value,
                                      const std::string& help) {
  app_.add_option(name, value, help)->required();
  return *this;
}

template <class T>
Arguments& Arguments::option(const std::string& name, T& value, const std::string& help) {
  CLI::Option* option = app_.add_option(name, value, help);
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    option->allow_extra_args(false);
  }
  return *this;
}

template Arguments& Arguments::option(const std::string&, std::string&, const std::string&);
template Arguments& Arguments::option(const std::string&, int64_t&, const std::string&);
template Arguments& Arguments::option(const std::string&, double&, const std::string&);
template Arguments& Arguments::option(const std::string&, std::optional<std::string>&,
                                      const std::string&);
template Arguments& Arguments::option(const std::string&, std::optional<int64_t>&,
                                      const std::string&);
template Arguments& Arguments::option(const std::string&, std::optional<double>&,
                                      const std::string&);
template Arguments& Arguments::option(const std::string&, std::vector<std::string>&,
                                      const std::string&);

}  // namespace heed::cli
