#include "train/files/strict_json.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

#include "layers/text/display.h"

namespace heed {

namespace {

// Counts and checks what the parser reads, before it becomes part of the tree.
template <class Json>
class Strict {
 public:
  Strict(const std::string& where, const JsonLimits& limits) : where_(where), limits_(limits) {}

  bool operator()(int, typename Json::parse_event_t event, const Json& read) {
    using Event = typename Json::parse_event_t;
    if (event == Event::key) {
      const auto& key = read.template get_ref<const std::string&>();
      if (!open_.back().keys.insert(key).second) {
        throw JsonError(
            text(where_, ": expected every key of an object once, got ", printable(key), " twice"),
            0, key);
      }
      require<JsonError>(open_.back().keys.size() <= limits_.keys, where_, ": expected at most ",
                         limits_.keys, " keys of an object, got more");
    } else if (event == Event::object_end || event == Event::array_end) {
      open_.pop_back();
    } else {
      require<JsonError>(++values_ <= limits_.values, where_, ": expected at most ", limits_.values,
                         " values, got more");
      require<JsonError>(open_.empty() || ++open_.back().values <= limits_.entries, where_,
                         ": expected at most ", limits_.entries, " entries in brackets, got more");
      if (event != Event::value) {
        require<JsonError>(std::ssize(open_) < limits_.depth, where_, ": expected at most ",
                           limits_.depth, " levels of brackets, got more");
        open_.emplace_back();
      }
    }
    return true;
  }

 private:
  // Of brackets that are open.
  struct Level {
    std::unordered_set<std::string> keys;  // of an object
    size_t values = 0;
  };

  const std::string& where_;
  const JsonLimits& limits_;
  std::vector<Level> open_;
  size_t values_ = 0;
};

// What the parser does not refuse. It takes a NUL for the end and ignores what follows. On an error
// it copies the current token, or the blanks before it, several times, a newline as eight bytes: so
// neither may be long.
void require_short_tokens(std::string_view json, const std::string& where,
                          const JsonLimits& limits) {
  const size_t nul = json.find('\0');
  require<JsonError>(nul == std::string_view::npos, where, ": expected JSON, got a NUL at byte ",
                     nul + 1);
  constexpr std::string_view blanks = " \t\r\n", marks = "{}[]:,";
  bool in_string = false;
  size_t start = 0;  // of the token that position i is in
  size_t row = 0;    // the blanks that end there
  for (size_t i = 0; i < json.size(); ++i) {
    const bool blank = !in_string && blanks.find(json[i]) != std::string_view::npos;
    if (in_string && json[i] == '\\') {
      ++i;
    } else if (json[i] == '"') {
      in_string = !in_string;
      start = i + 1;
    } else if (blank || (!in_string && marks.find(json[i]) != std::string_view::npos)) {
      start = i + 1;
    }
    row = blank ? row + 1 : 0;
    require<JsonError>(row <= limits.blanks, where, ": expected at most ", limits.blanks,
                       " blanks in a row, got more at byte ", i + 1);
    require<JsonError>(i - start + 1 <= limits.token_bytes || i < start, where,
                       ": expected strings and numbers of at most ", limits.token_bytes,
                       " bytes, got more at byte ", start + 1);
  }
}

}  // namespace

template <class Json>
Json parse_strict_json(std::string_view text, const std::string& where, const JsonLimits& limits) {
  require_short_tokens(text, where, limits);
  Strict<Json> strict(where, limits);
  try {
    return Json::parse(text, std::ref(strict));
  } catch (const nlohmann::json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
    const std::string message = error.what();
    const size_t at = message.find("at line ");
    const auto* const syntax = dynamic_cast<const nlohmann::json::parse_error*>(&error);
    throw JsonError(heed::text(where, ": expected JSON, got an error ",
                               printable(message.substr(at == std::string::npos ? 0 : at), 200)),
                    syntax != nullptr ? syntax->byte : 0);
  }
}

template nlohmann::json parse_strict_json(std::string_view, const std::string&, const JsonLimits&);
template nlohmann::ordered_json parse_strict_json(std::string_view, const std::string&,
                                                  const JsonLimits&);

}  // namespace heed
