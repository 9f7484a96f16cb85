#include "layers/config/values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "layers/config/types.h"

namespace heed {

namespace {

bool all_digits(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

std::string without(std::string text, char c) {
  std::erase(text, c);
  return text;
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
  if (!all_digits(magnitude(text)) || has_leading_zero(text)) {
    return Parsed::no;
  }
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

std::string without_leading_zeros(const std::string& text) {
  const std::string digits = magnitude(text);
  const size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
  const bool fraction = digits[first] == '.' && first > 0;
  return heed::text(text[0] == '-' ? "-" : "", digits.substr(fraction ? first - 1 : first));
}

// Suggests what to write instead of a text that is almost a number: "; write 16", or "".
std::string number_hint(const std::string& text, bool whole) {
  const std::string sign = !text.empty() && text[0] == '-' ? "-" : "";
  const std::string digits = magnitude(text);
  double value = 0;
  if (digits.starts_with("0x") || digits.starts_with("0X") || digits.starts_with("0o")) {
    int64_t number = 0;
    const char* end = digits.data() + digits.size();
    const int base = digits[1] == 'o' ? 8 : 16;
    const auto [stop, error] = std::from_chars(digits.data() + 2, end, number, base);
    const bool ok = stop == end && error == std::errc{};
    return ok ? heed::text("; write it in decimals: ", sign, number) : "; write it in decimals";
  }
  const std::string plain = without(without(text, '_'), ',');
  if (plain != text && parse_double(plain, value) == Parsed::yes) {
    return whole ? heed::text("; write ", plain, ", nothing separates thousands")
                 : "; decimals begin with a point, and nothing separates thousands";
  }
  if (has_leading_zero(text) && parse_double(text, value) == Parsed::yes) {
    return heed::text("; write it without leading zeros: ", without_leading_zeros(text));
  }
  if (whole && parse_double(text, value) == Parsed::yes && std::floor(value) == value &&
      std::abs(value) < 1e15) {
    return heed::text("; write ", static_cast<int64_t>(value));
  }
  return "";
}

// A quoted number is text. If it, or a word such as none, would be valid without quotes, suggests
// that.
std::string quote_hint(const FieldInfo& info, const ConfigNode& node, bool number_would_fit) {
  const bool off = !info.off_word.empty() && node.text() == info.off_word;
  return node.quoted() && (off || number_would_fit) ? "; write it without quotes" : "";
}

bool in_range_or_report(const FieldInfo& info, const ConfigNode& node, double value,
                        ConfigErrors& errors) {
  if (!info.range.contains(value)) {
    errors.add(node, "expected ", expected(info), ", got ", in_words(node));
  }
  return info.range.contains(value);
}

std::string truth_of(const std::string& text) {
  static const std::array<std::string, 6> yes = {"true", "yes", "on", "y", "1", "t"};
  static const std::array<std::string, 6> no = {"false", "no", "off", "n", "0", "f"};
  std::string lower = text;
  for (char& c : lower) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (std::find(yes.begin(), yes.end(), lower) != yes.end()) {
    return "true";
  }
  return std::find(no.begin(), no.end(), lower) != no.end() ? "false" : "";
}

}  // namespace

std::optional<int64_t> whole_number(const ConfigNode& node) {
  int64_t number = 0;
  const bool reads =
      node.is_scalar() && !node.quoted() && parse_whole(node.text(), number) == Parsed::yes;
  return reads ? std::optional(number) : std::nullopt;
}

std::optional<double> any_real(const ConfigNode& node) {
  double number = 0;
  const bool plain = node.is_scalar() && !node.quoted() && !has_leading_zero(node.text());
  const bool reads = plain && parse_double(node.text(), number) == Parsed::yes;
  return reads ? std::optional(number) : std::nullopt;
}

bool has_kind(const FieldInfo& info, const ConfigNode& node, ConfigNode::Kind kind,
              ConfigErrors& errors) {
  if (node.is_null()) {
    errors.add(node, "missing value, expected ", expected(info));
    return false;
  }
  if (node.kind() != kind) {
    const bool type = info.type == FieldType::spec && node.is_scalar() &&
                      config_types(info.spec_kind).find(node.text());
    errors.add(node, "expected ", expected(info), ", got ", in_words(node),
               type ? "; write {type: " + node.text() + "}" : "");
  }
  return node.kind() == kind;
}

bool read_value(const FieldInfo& info, const ConfigNode& node, bool& value, ConfigErrors& errors) {
  if (!has_kind(info, node, ConfigNode::Kind::scalar, errors)) {
    return false;
  }
  if (!node.quoted() && (node.text() == "true" || node.text() == "false")) {
    value = node.text() == "true";
    return true;
  }
  const std::string truth = truth_of(node.text());
  errors.add(node, "expected true or false, got ", in_words(node),
             truth.empty() ? "" : "; write " + truth);
  return false;
}

bool read_value(const FieldInfo& info, const ConfigNode& node, int64_t& value,
                ConfigErrors& errors) {
  if (!has_kind(info, node, ConfigNode::Kind::scalar, errors)) {
    return false;
  }
  int64_t number = 0;
  const Parsed parsed = parse_whole(node.text(), number);
  if (node.quoted() || parsed == Parsed::no) {
    errors.add(node, "expected ", expected(info), ", got ", in_words(node),
               node.quoted() ? quote_hint(info, node, parsed != Parsed::no)
                             : number_hint(node.text(), true));
    return false;
  }
  if (parsed == Parsed::out_of_range) {
    errors.add(node, "out of range, expected ", expected(info), ", got ", in_words(node),
               "; whole numbers go from ", std::numeric_limits<int64_t>::min(), " to ",
               std::numeric_limits<int64_t>::max());
    return false;
  }
  if (!in_range_or_report(info, node, static_cast<double>(number), errors)) {
    return false;
  }
  value = number;
  return true;
}

bool read_value(const FieldInfo& info, const ConfigNode& node, double& value,
                ConfigErrors& errors) {
  if (!has_kind(info, node, ConfigNode::Kind::scalar, errors)) {
    return false;
  }
  double number = 0;
  const Parsed parsed = parse_double(node.text(), number);
  if (node.quoted() || parsed == Parsed::no || has_leading_zero(node.text())) {
    errors.add(node, "expected ", expected(info), ", got ", in_words(node),
               node.quoted() ? quote_hint(info, node, parsed == Parsed::yes)
                             : number_hint(node.text(), false));
    return false;
  }
  if (parsed == Parsed::out_of_range) {
    errors.add(node, "out of range, expected ", expected(info), ", got ", in_words(node),
               "; numbers go from about 2e-308 to 2e308, and 0");
    return false;
  }
  if (!in_range_or_report(info, node, number, errors)) {
    return false;
  }
  value = number;
  return true;
}

bool read_value(const FieldInfo& info, const ConfigNode& node, std::string& value,
                ConfigErrors& errors) {
  if (!has_kind(info, node, ConfigNode::Kind::scalar, errors)) {
    return false;
  }
  const auto& choices = info.choices;
  if (!choices.empty() && std::find(choices.begin(), choices.end(), node.text()) == choices.end()) {
    const std::string near = nearest(node.text(), choices);
    errors.add(node, "expected ", expected(info), ", got ", in_words(node),
               near.empty() ? "" : "; did you mean " + near + "?");
    return false;
  }
  value = node.text();
  return true;
}

FieldInfo element_of(const FieldInfo& list) {
  FieldInfo element = list;
  switch (list.type) {
    case FieldType::boolean_list:
      element.type = FieldType::boolean;
      break;
    case FieldType::integer_list:
      element.type = FieldType::integer;
      break;
    case FieldType::number_list:
      element.type = FieldType::number;
      break;
    case FieldType::spec_list:
      element.type = FieldType::spec;
      break;
    default:
      element.type = FieldType::string;
  }
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
  for (const std::string& word : words) {
    out += (out.empty() ? "" : ", ") + word;
  }
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
