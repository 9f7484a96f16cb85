#include "train/tokenizers/vocabulary.h"

#include <nlohmann/json.hpp>
#include <set>

#include "autograd/base/rethrow.h"
#include "layers/text/display.h"
#include "train/files/files.h"

namespace heed {

namespace {

constexpr int64_t most_bytes = int64_t{1} << 28;

struct Vocabulary {
  std::string type;  // of the tokenizer
  std::vector<std::string> tokens;
};

Vocabulary parse_vocabulary(const std::string& text) {
  // An ordered object would search all its keys for each that it gets.
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const bool is_vocabulary = json.is_object() && json.contains("type") &&
                             json["type"].is_string() && json.contains("tokens") &&
                             json["tokens"].is_array();
  require<IoError>(is_vocabulary, "vocabulary.json: expected JSON with a type and tokens");
  Vocabulary read{json["type"].get<std::string>(), {}};
  std::set<std::string> seen;
  for (const nlohmann::json& token : json["tokens"]) {
    require<IoError>(token.is_string() && !token.get_ref<const std::string&>().empty(),
                     "vocabulary.json: expected tokens with text in them");
    read.tokens.push_back(token.get<std::string>());
    require<IoError>(seen.insert(read.tokens.back()).second, "vocabulary.json: expected the token ",
                     printable(read.tokens.back()), " once, got it twice");
  }
  require<IoError>(!read.tokens.empty(), "vocabulary.json: expected tokens, got none");
  return read;
}

}  // namespace

std::string vocabulary_to_json(const std::string& type, const std::vector<std::string>& tokens) {
  return nlohmann::ordered_json{{"type", type}, {"tokens", tokens}}.dump() + "\n";
}

std::vector<std::string> vocabulary_from_json(const std::string& text, const std::string& type) {
  Vocabulary read = parse_vocabulary(text);
  require<ConfigError>(read.type == type, "expected the vocabulary of tokenizer ", type,
                       ", got that of tokenizer ", printable(read.type));
  return std::move(read.tokens);
}

std::string read_vocabulary(const std::filesystem::path& folder, const char* name) {
  const std::filesystem::path path = folder / name;
  if (folder.empty() || !is_there(path)) {
    return "";
  }
  std::string text = read_file(path, most_bytes);
  if (const auto wrong = error_of<IoError>([&] { parse_vocabulary(text); })) {
    fail<IoError>(path.string(), wrong->substr(wrong->find(':')));
  }
  return text;
}

}  // namespace heed
