#include "train/files/strict_json.h"

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "layers/text/display.h"

namespace heed {

namespace {

class StrictReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  StrictReader(const std::string& where, const JsonLimits& limits, std::vector<JsonMember>* members)
      : where_(where), limits_(limits), members_(members) {}

  bool key(string_t& name) override {
    if (!open_.back().keys.insert(name).second) {
      throw JsonError(
          text(where_, ": expected every key of an object once, got ", printable(name), " twice"),
          0, name);
    }
    if (members_ != nullptr && open_.size() == 1) {
      members_->push_back({name});
    }
    return true;
  }
  bool start_object(std::size_t) override { return open("an object"); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open("an array"); }
  bool end_array() override { return close(); }

  bool null() override { return value("null"); }
  bool boolean(bool is) override { return value("a boolean", is ? "true" : "false"); }
  bool number_integer(number_integer_t number) override {
    return value("a number", std::to_string(number));
  }
  bool number_unsigned(number_unsigned_t number) override {
    return value("a number", std::to_string(number));
  }
  bool number_float(number_float_t, const string_t& as_written) override {
    return value("a number", as_written);
  }
  bool string(string_t& words) override { return value("a text", words); }
  bool binary(binary_t&) override { return value("bytes"); }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
    const std::string message = error.what();
    const size_t at = message.find("at line ");
    throw JsonError(text(where_, ": expected JSON, got an error ",
                         printable(message.substr(at == std::string::npos ? 0 : at), 200)),
                    position);
  }

 private:
  // Of brackets that are open.
  struct Level {
    std::unordered_set<std::string> keys;  // of an object
    size_t values = 0;
  };

  bool value(const char* kind, const std::string& as_text = {}) {
    require<JsonError>(++values_ <= limits_.values, where_, ": expected at most ", limits_.values,
                       " values, got more");
    require<JsonError>(open_.empty() || ++open_.back().values <= limits_.entries, where_,
                       ": expected at most ", limits_.entries, " entries in brackets, got more");
    if (members_ != nullptr && open_.size() == 1 && !members_->empty()) {
      members_->back().kind = kind;
      members_->back().text = as_text;
    }
    return true;
  }
  bool open(const char* kind) {
    value(kind);
    require<JsonError>(std::ssize(open_) < limits_.depth, where_, ": expected at most ",
                       limits_.depth, " levels of brackets, got more");
    open_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& where_;
  const JsonLimits& limits_;
  std::vector<JsonMember>* const members_;  // of the outermost object; null: they are not asked for
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

void require_strict_json(std::string_view text, const std::string& where, const JsonLimits& limits,
                         std::vector<JsonMember>* members) {
  require_short_tokens(text, where, limits);
  StrictReader reader(where, limits, members);
  nlohmann::json::sax_parse(text, &reader);
}

}  // namespace heed
