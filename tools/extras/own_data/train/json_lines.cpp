#include "tools/extras/own_data/train/json_lines.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "layers/text/display.h"
#include "train/files/strict_json.h"

namespace heed {

namespace {

using Json = nlohmann::ordered_json;

constexpr JsonLimits limits_of_an_object{.depth = 10'000, .keys = 10'000};

std::string described(const JsonError& error) {
  if (!error.key.empty()) {
    return text("expected the key ", printable(error.key), " once, got it twice");
  }
  const std::string message = error.what();
  const bool is_half = message.find("surrogate") != std::string::npos;
  return error.byte == 0
             ? message
             : text("expected a JSON object, got ",
                    is_half ? "half of a character, \\ud800 to \\udfff alone," : "an error in it",
                    " at byte ", error.byte);
}

std::string missing(const std::string& key, const Json& object) {
  std::vector<std::string> keys;
  for (const auto& member : object.items()) keys.push_back(member.key());
  const std::string near = nearest(key, keys);
  return text("expected the key ", printable(key), ", got ",
              keys.empty() ? "no key" : printable(listed(keys), 200),
              near.empty() ? "" : "; did you mean " + printable(near) + "?");
}

std::string kind_of(const Json& value) {
  return value.is_string()    ? "a text"
         : value.is_number()  ? "a number"
         : value.is_boolean() ? "a boolean"
         : value.is_array()   ? "an array"
         : value.is_object()  ? "an object"
                              : "null";
}

bool fits(const Json& value, const RowColumn& column) {
  return value.is_string() || (column.is_label && (value.is_number() || value.is_boolean())) ||
         (column.is_optional && value.is_null());
}

}  // namespace

std::string read_json_object(std::string_view text, std::span<const RowColumn> columns,
                             std::vector<std::string>& cells, std::set<std::string>* unused) {
  if (without_blanks(text).starts_with('[')) {
    return "expected a JSON object, got an array";
  }
  Json object;
  try {
    object = parse_strict_json<Json>(text, "the object", limits_of_an_object);
  } catch (const JsonError& error) {
    return described(error);
  }
  if (!object.is_object()) {
    return "expected a JSON object, got another value";
  }
  cells.assign(columns.size(), "");
  std::vector<bool> found(columns.size());
  for (const auto& [key, value] : object.items()) {
    const auto column = std::find_if(columns.begin(), columns.end(), [&](const RowColumn& one) {
      return one.key() == key || heed::text(one.also).find(" " + key + " ") != std::string::npos;
    });
    if (column == columns.end()) {
      if (unused != nullptr && value.is_string()) unused->insert(key);
      continue;
    }
    if (!fits(value, *column)) {
      return heed::text("expected text as ", key, ", got ", kind_of(value));
    }
    const auto k = static_cast<size_t>(column - columns.begin());
    if (found[k]) {
      return heed::text("expected the key ", column->key(), " or one that stands for it, got ", key,
                        " as well");
    }
    cells[k] = value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
    found[k] = true;
  }
  for (size_t k = 0; k < columns.size(); ++k) {
    if (!found[k] && !columns[k].is_optional) {
      return missing(columns[k].key(), object);
    }
  }
  return "";
}

}  // namespace heed
