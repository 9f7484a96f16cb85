#include <CLI/CLI.hpp>

#include "autograd/threads/machine.h"
#include "autograd/threads/parallel.h"
#include "layers/config/values.h"
#include "tools/command.h"

namespace heed::cli {

namespace {

// Says what is wrong with the text of a number, or "". The same numbers are valid as in a config:
// CLI11 alone would read 010 as 8.
template <class T>
auto number_in(const Range& range) {
  return [range](const std::string& text) -> std::string {
    FieldInfo info;
    info.range = range;
    info.type = std::is_same_v<T, int64_t> ? FieldType::integer : FieldType::number;
    ConfigErrors errors;
    T number{};
    read_value(info, ConfigNode::scalar(text, false), number, errors);
    return errors.empty() ? "" : errors.exception().what();
  };
}

// Of words_for_parser() in command_line.cpp.
std::string cut_at_nul(const std::string& word) { return word.substr(0, word.find('\0')); }

}  // namespace

Arguments& Arguments::positional(const std::string& name, std::string& value,
                                 const std::string& help, bool required) {
  last_ = app_.add_option(name, value, help)->required(required)->transform(cut_at_nul);
  return required ? *this : refuse_empty("a name");
}

Arguments& Arguments::config(const std::string& name, std::string& value, const std::string& help,
                             bool required) {
  configs_.push_back(&value);
  positional(name, value, help).path();
  last_->required(required);
  return *this;
}

Arguments& Arguments::run(std::string& value) {
  runs_.push_back(&value);
  return positional("RUN", value, "a run folder, or one of its checkpoints/step-* folders").path();
}

Arguments& Arguments::positionals(const std::string& name, std::vector<std::string>& values,
                                  const std::string& help) {
  last_ = app_.add_option(name, values, help)->required()->transform(cut_at_nul);
  return *this;
}

Arguments& Arguments::path() { return refuse_empty("the name of a file or folder"); }

Arguments& Arguments::refuse_empty(const std::string& expected) {
  const auto mistake = [expected](const std::string& value) {
    return value.empty() ? "expected " + expected + ", got nothing" : "";
  };
  last_->check(mistake, "");
  return *this;
}

Arguments& Arguments::flag(const std::string& name, bool& value, const std::string& help) {
  app_.add_flag(name, value, help);
  return *this;
}

Arguments& Arguments::threads() {
  const auto set = [](const int64_t& threads) { set_num_threads(static_cast<int>(threads)); };
  last_ = app_.add_option_function<int64_t>(
      "--threads", set, "how many threads compute (default: OMP_NUM_THREADS, or all cores)");
  last_->check(number_in<int64_t>(in_range(1, most_threads)), "");
  return *this;
}

const Range& Arguments::any() { return any_number; }

Arguments& Arguments::add(const std::string& name, Value value, const std::string& help,
                          const Range& range) {
  const auto declare = [&]<class T>(T* of) {
    last_ = app_.add_option(name, *of, help);
    using Number = typename decltype(std::optional(*of))::value_type;
    if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      last_->allow_extra_args(false);
    } else if constexpr (!std::is_same_v<Number, std::string>) {
      last_->check(number_in<Number>(range), "");
    }
  };
  std::visit(declare, value);
  return *this;
}

}  // namespace heed::cli
