#include "layers/config/values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "layers/config/types.h"
#include "layers/config/unknown_key.h"

namespace heed {

namespace {

bool all_digits(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// Removes a leading plus, which from_chars rejects.
std::string without_plus(const std::string& text) {
  return text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+' ? text.substr(1)
                                                                               : text;
}

std::string magnitude(const std::string& text) {
  return !text.empty() && (text[0] == '-' || text[0] == '+') ? text.substr(1) : text;
}

// True for 010 and 00.5, which some parsers read as octal.
bool has_leading_zero(const std::string& text) {
  const std::string digits = magnitude(text);
  return digits.size() > 1 && digits[0] == '0' &&
         std::isdigit(static_cast<unsigned char>(digits[1]));
}

enum class Parsed { yes, no, out_of_range };

Parsed parse_whole(const std::string& text, int64_t& value) {
  if (!all_digits(magnitude(text)) || has_leading_zero(text)) return Parsed::no;
  const std::string digits = without_plus(text);
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return result.ec == std::errc{} ? Parsed::yes : Parsed::out_of_range;
}

Parsed parse_double(const std::string& text, double& value) {
  const std::string digits = without_plus(text);
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument || magnitude(digits).empty() ||
      std::isalpha(static_cast<unsigned char>(magnitude(digits)[0]))) {  // inf, nan
    return Parsed::no;
  }
  return error == std::errc::result_out_of_range ? Parsed::out_of_range : Parsed::yes;
}

// "; write 1000" after 1e3, where a whole number is expected.
std::string whole_number_hint(const std::string& text) {
  double value = 0;
  const bool whole = parse_double(text, value) == Parsed::yes && std::floor(value) == value &&
                     std::abs(value) < 1e15;
  return whole ? heed::text("; write ", static_cast<int64_t>(value)) : "";
}

// Each reports it if the field excludes the value, which `node` shows.
template <class Number>
requires std::is_arithmetic_v<Number>
bool fits(const FieldInfo& info, const ConfigNode& node, Number value, ConfigErrors& errors) {
  const auto number = static_cast<double>(value);
  const bool within = info.range.contains(number);
  if (!within) {
    const double most = info.range.max.value_or(number);
    const bool rounded = number < most && static_cast<float>(number) >= static_cast<float>(most);
    errors.add(node, "expected ", expected(info), ", got ", in_words(node),
               number > 0 && number < 1e-37 ? ", which is 0 in float32"
               : rounded                    ? text(", which is ", most, " in float32")
                                            : "");
  }
  return within;
}
bool fits(const FieldInfo& info, const ConfigNode& node, const std::string& value,
          ConfigErrors& errors) {
  const auto& choices = info.choices;
  if (choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end()) {
    return true;
  }
  const std::string near = nearest_name(value, choices);
  errors.add(node, "expected ", expected(info), ", got ", in_words(node),
             near.empty() ? "" : "; did you mean " + near + "?");
  return false;
}

template <class T>
bool fits(const FieldInfo& info, const ConfigNode& node, const std::optional<T>& value,
          ConfigErrors& errors) {
  return !value || fits(info, node, *value, errors);
}
bool fits(const FieldInfo& info, const ConfigNode& node, const NamedNumbers::value_type& value,
          ConfigErrors& errors) {
  return fits(info, node, value.second, errors);
}
template <class T>
bool fits(const FieldInfo& info, const ConfigNode& node, const std::vector<T>& values,
          ConfigErrors& errors) {
  const FieldInfo element = element_of(info);
  const bool is_one = node.is_scalar();
  bool ok = is_one || has_length(info, node, errors);
  for (size_t i = 0; i < values.size(); ++i) {
    const ConfigNode& at = is_one ? node : node.at(static_cast<int64_t>(i));
    ok = fits(element, at, T(values[i]), errors) && ok;
  }
  return ok;
}

thread_local int64_t scalars = 0;

bool is_scalar(const FieldInfo& info, const ConfigNode& node, ConfigErrors& errors) {
  ++scalars;
  return has_kind(info, node, ConfigNode::Kind::scalar, errors);
}

}  // namespace

std::optional<int64_t> whole_number(const ConfigNode& node) {
  int64_t number = 0;
  const bool reads =
      node.is_scalar() && !node.quoted() && parse_whole(node.text(), number) == Parsed::yes;
  return reads ? std::optional(number) : std::nullopt;
}

bool has_kind(const FieldInfo& info, const ConfigNode& node, ConfigNode::Kind kind,
              ConfigErrors& errors) {
  if (node.is_null()) {
    errors.add(node, "missing value, expected ", expected(info));
    return false;
  }
  if (node.kind() != kind) {
    const bool part = info.type == FieldType::part && node.is_scalar();
    const std::string near =
        part ? nearest_name(node.text(), config_types(info.part_kind).names()) : "";
    errors.add(node, "expected ", expected(info), ", got ", in_words(node),
               near.empty()          ? ""
               : near == node.text() ? "; write {type: " + near + "}"
                                     : "; did you mean {type: " + near + "}?");
  }
  return node.kind() == kind;
}

bool read_value(const FieldInfo& info, const ConfigNode& node, bool& value, ConfigErrors& errors) {
  if (!is_scalar(info, node, errors)) return false;
  if (!node.quoted() && (node.text() == "true" || node.text() == "false")) {
    value = node.text() == "true";
    return true;
  }
  errors.add(node, "expected true or false, got ", in_words(node));
  return false;
}

namespace {

// A quoted number is text, and so is a quoted word such as none.
template <class Number>
bool read_number(const FieldInfo& info, const ConfigNode& node,
                 Parsed (*parse)(const std::string&, Number&), Number& value,
                 ConfigErrors& errors) {
  if (!is_scalar(info, node, errors)) return false;
  constexpr bool whole = std::is_integral_v<Number>;
  Number number = 0;
  const Parsed parsed = parse(node.text(), number);
  if (node.quoted() || parsed == Parsed::no || has_leading_zero(node.text())) {
    const bool off = !info.off_word.empty() && node.text() == info.off_word;
    const bool is_number = parsed == Parsed::yes || (whole && parsed == Parsed::out_of_range);
    errors.add(node, "expected ", expected(info), ", got ", in_words(node),
               node.quoted() ? (off || is_number ? "; write it without quotes" : "")
               : whole       ? whole_number_hint(node.text())
                             : "");
    return false;
  }
  if (parsed == Parsed::out_of_range) {
    errors.add(node, "out of range, expected ", expected(info), ", got ", in_words(node));
    return false;
  }
  if (!fits(info, node, number, errors)) return false;
  value = number;
  return true;
}

}  // namespace

bool read_value(const FieldInfo& info, const ConfigNode& node, int64_t& value,
                ConfigErrors& errors) {
  return read_number(info, node, parse_whole, value, errors);
}

bool read_value(const FieldInfo& info, const ConfigNode& node, double& value,
                ConfigErrors& errors) {
  return read_number(info, node, parse_double, value, errors);
}

bool read_value(const FieldInfo& info, const ConfigNode& node, std::string& value,
                ConfigErrors& errors) {
  if (!is_scalar(info, node, errors) || !fits(info, node, node.text(), errors)) return false;
  value = node.text();
  return true;
}

bool read_value(const FieldInfo& info, const ConfigNode& node, NamedNumbers::value_type& value,
                ConfigErrors& errors) {
  value.first = node.key();
  return read_value(info, node, value.second, errors);
}

bool read_value(const Field& field, const ConfigNode& node, ConfigErrors& errors) {
  return std::visit([&](auto* value) { return read_value(field.info, node, *value, errors); },
                    std::get<Value>(field.member));
}

int64_t scalars_read() { return scalars; }

bool check_value(const Field& field, const ConfigNode& around, ConfigErrors& errors) {
  ConfigNode node = value_node(field);
  node.set_mark(around.mark());
  node.set_path(join_path(around.path(), field.info.name));
  return std::visit([&](const auto* value) { return fits(field.info, node, *value, errors); },
                    std::get<Value>(field.member));
}

FieldInfo element_of(const FieldInfo& list) {
  FieldInfo element = list;
  element.or_list = false;
  element.type = list.type == FieldType::boolean_list   ? FieldType::boolean
                 : list.type == FieldType::integer_list ? FieldType::integer
                 : list.type == FieldType::number_list  ? FieldType::number
                 : list.type == FieldType::number_map   ? FieldType::number
                 : list.type == FieldType::string_list  ? FieldType::string
                                                        : FieldType::part;
  return element;
}

bool has_length(const FieldInfo& info, const ConfigNode& node, ConfigErrors& errors) {
  const bool ok =
      node.size() >= info.length.min && (!info.length.max || node.size() <= *info.length.max);
  if (!ok) {
    errors.add(node, "expected ", expected(info), ", got ", node.size(),
               node.size() == 1 ? " element" : " elements");
  }
  return ok;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string one_of(const std::vector<std::string>& words) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i) {
    out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  }
  return out;
}

}  // namespace heed
