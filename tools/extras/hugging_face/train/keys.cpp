#include "tools/extras/hugging_face/train/keys.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>

#include "layers/config/fields.h"
#include "layers/config/values.h"
#include "layers/text/display.h"
#include "tools/extras/hugging_face/train/json.h"

namespace heed {

namespace {

constexpr int64_t largest_size = int64_t{1} << 24;  // products of two or three fit 64 bits

}  // namespace

const ConfigNode& Keys::get(const std::string& key) {
  static const ConfigNode none;
  known_.insert(key);
  const ConfigNode& value = json_.get(key);
  return value.is_null() ? none : value;
}

int64_t Keys::size(const std::string& key, int64_t usual) {
  const ConfigNode& value = get(key);
  const std::optional<int64_t> number = value.is_absent() ? usual : whole_number(value);
  if (!number || *number < 1 || *number > largest_size) {
    refuse(key, text("a whole number from 1 to ", largest_size));
  }
  return *number;
}

double Keys::number(const std::string& key, double usual) {
  return number_of(get(key), key, usual);
}

double Keys::number_of(const ConfigNode& value, const std::string& key, double usual) const {
  if (value.is_absent()) return usual;
  FieldInfo info;
  info.type = FieldType::number;
  ConfigErrors errors;
  double number = 0;
  if (!value.is_scalar() || !read_value(info, value, number, errors)) refuse(key, "a number");
  return number;
}

bool Keys::flag(const std::string& key, bool usual) {
  const ConfigNode& value = get(key);
  if (value.is_absent()) return usual;
  if (!value.is_scalar() || value.quoted() || (value.text() != "true" && value.text() != "false")) {
    refuse(key, "true or false");
  }
  return value.text() == "true";
}

std::string Keys::words(const std::string& key, const std::string& usual) {
  const ConfigNode& value = get(key);
  if (!value.is_absent() && !value.is_scalar()) refuse(key, "text");
  return value.is_absent() ? usual : value.text();
}

void Keys::require_flag(const std::string& key, bool as_here, bool usual) {
  if (flag(key, usual) != as_here) cannot(key, as_here ? "true" : "false");
}

void Keys::require_none(const std::string& key) {
  if (has(key) && (get(key).is_scalar() || get(key).size() > 0)) cannot(key, "none");
}

void Keys::ignore(const std::string& keys) {
  std::istringstream words(keys);
  known_.insert(std::istream_iterator<std::string>(words), {});
}

std::vector<std::string> Keys::unknown() const {
  std::vector<std::string> names;
  for (const ConfigNode& child : json_.children()) {
    const bool says =
        child.is_scalar() ? !child.is_null() && child.text() != "false" : child.size() > 0;
    if (says && !known_.contains(child.key())) names.push_back(child.key());
  }
  return names;
}

void Keys::refuse(const std::string& key, const std::string& expected) const {
  const char* const quote = json_.get(key).quoted() ? "\"" : "";  // "2" is no number
  fail<IoError>(where_, ": ", key, ": expected ", expected, ", got ", quote, shown(key), quote);
}

void Keys::cannot(const std::string& key, const std::string& here, const std::string& since) const {
  fail<ConfigError>(where_, ": ", key, ": expected ", here, ", as ", since, "; got ", shown(key));
}

std::string Keys::shown(const std::string& key) const {
  ConfigNode value = json_.get(key);
  for (const ConfigNode& inside : json_.children()) {  // rope_parameters
    if (value.is_absent() && inside.is_map()) value = inside.get(key);
  }
  if (value.is_scalar()) return printable(value.is_null() ? "null" : value.text(), 100);
  std::string words = value.is_absent() ? "nothing" : json_text(value);
  words.erase(std::remove(words.begin(), words.end(), '\n'), words.end());
  return printable(words, 100);
}

}  // namespace heed
