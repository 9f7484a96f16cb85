#include "tools/extras/own_data/train/json_lines.h"

#include <algorithm>

#include "layers/text/display.h"
#include "train/files/strict_json.h"

namespace heed {

namespace {

constexpr JsonLimits limits_of_an_object{.depth = 10'000};

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

std::string missing(const std::string& key, const std::vector<JsonMember>& members) {
  std::vector<std::string> keys;
  for (const JsonMember& member : members) keys.push_back(member.key);
  const std::string near = nearest(key, keys);
  return text("expected the key ", printable(key), ", got ",
              keys.empty() ? "no key" : printable(listed(keys), 200),
              near.empty() ? "" : "; did you mean " + printable(near) + "?");
}

bool fits(const std::string& kind, const RowColumn& column) {
  return kind == "a text" || (column.is_label && (kind == "a number" || kind == "a boolean")) ||
         (column.is_optional && kind == "null");
}

}  // namespace

std::string read_json_object(std::string_view text, std::span<const RowColumn> columns,
                             std::vector<std::string>& cells, std::set<std::string>* unused) {
  const std::string_view object = without_blanks(text);
  if (object.starts_with('[')) return "expected a JSON object, got an array";
  std::vector<JsonMember> members;
  try {
    require_strict_json(text, "the object", limits_of_an_object, &members);
  } catch (const JsonError& error) {
    return described(error);
  }
  if (!object.starts_with('{')) return "expected a JSON object, got another value";
  cells.assign(columns.size(), "");
  std::vector<bool> found(columns.size());
  for (const JsonMember& member : members) {
    const auto column = std::find_if(columns.begin(), columns.end(), [&](const RowColumn& one) {
      return one.key() == member.key ||
             heed::text(one.also).find(" " + member.key + " ") != std::string::npos;
    });
    if (column == columns.end()) {
      if (unused != nullptr && member.kind != "null") unused->insert(member.key);
      continue;
    }
    if (!fits(member.kind, *column)) {
      return heed::text("expected text as ", member.key, ", got ", member.kind);
    }
    const auto k = static_cast<size_t>(column - columns.begin());
    if (found[k]) {
      return heed::text("expected the key ", column->key(), " or one that stands for it, got ",
                        member.key, " as well");
    }
    cells[k] = member.text;
    found[k] = true;
  }
  for (size_t k = 0; k < columns.size(); ++k) {
    if (!found[k] && !columns[k].is_optional) return missing(columns[k].key(), members);
  }
  return "";
}

}  // namespace heed
