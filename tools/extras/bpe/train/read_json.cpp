#include "tools/extras/bpe/train/read_json.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "autograd/base/error.h"
#include "layers/text/display.h"
#include "tools/extras/bpe/train/text/byte_text.h"
#include "tools/extras/bpe/train/text/published_patterns.h"
#include "tools/extras/bpe/train/vocabulary.h"
#include "train/files/strict_json.h"

namespace heed {

namespace {

using Json = nlohmann::json;

constexpr int deepest_of_file = 20;  // levels of nesting; pre-tokenizers need eight

// A value of the file, with the path of its key for messages.
struct JsonValue {
  const Json& value;
  std::string where;  // "tok.json: model.vocab"

  [[noreturn]] void refuse(const std::string& expected) const {
    fail<IoError>(where, ": expected ", expected, ", got ",
                  printable(value.is_null() ? "null" : value.dump()));
  }
  JsonValue at(const char* key) const {
    if (!value.is_object() || !value.contains(key)) {
      fail<IoError>(where, ": expected ", key, ", got ",
                    value.is_object() ? "an object without it" : value.type_name());
    }
    return {value.at(key), text(where, where.ends_with(": ") ? "" : ".", key)};
  }
  // As at(); null if the key is absent.
  const Json& find(const char* key) const {
    static const Json none;
    return value.is_object() && value.contains(key) ? value.at(key) : none;
  }
  bool flag(const char* key, bool usual) const {
    const Json& found = find(key);
    if (!found.is_null() && !found.is_boolean()) {
      JsonValue{found, text(where, ".", key)}.refuse("true or false");
    }
    return found.is_null() ? usual : found.get<bool>();
  }
  std::string words(const char* key) const {
    const JsonValue found = at(key);
    if (!found.value.is_string()) {
      found.refuse("text");
    }
    return found.value.get<std::string>();
  }
  // Refuses every value but null and those in `allowed`.
  void require_absent(const char* key, const std::vector<Json>& allowed = {}) const {
    const Json& found = find(key);
    if (!found.is_null() && std::find(allowed.begin(), allowed.end(), found) == allowed.end()) {
      JsonValue{found, text(where, where.ends_with(": ") ? "" : ".", key)}.refuse(
          "none, as heed does not have it");
    }
  }
};

// The contents of the added tokens. Nothing of them has been checked yet.
std::unordered_set<std::string> contents_of(const Json& added) {
  std::unordered_set<std::string> contents;
  if (!added.is_array()) {
    return contents;
  }
  for (const Json& each : added) {
    if (each.is_object() && each.contains("content") && each.at("content").is_string()) {
      contents.insert(each.at("content").get<std::string>());
    }
  }
  return contents;
}

void read_vocabulary(const JsonValue& vocabulary, const Json& added, VocabularyBuilder& builder) {
  if (!vocabulary.value.is_object() || vocabulary.value.empty()) {
    vocabulary.refuse("an object {token: id, ...}");
  }
  const std::unordered_set<std::string> contents = contents_of(added);
  for (const auto& [token, id] : vocabulary.value.items()) {
    const auto where = [&, &token = token] {
      return text(vocabulary.where, "[", printable(token), "]");
    };
    if (!id.is_number_integer()) {
      JsonValue{id, where()}.refuse("an id, a whole number");
    }
    const std::optional<std::string> bytes = bytes_of_text(token);
    if (!bytes && contents.contains(token)) {
      continue;  // comes with the added tokens, as it is
    }
    require<IoError>(bytes.has_value(), bytes ? "" : where(), ": expected a token in the alphabet ",
                     "of bytes, as byte-level tokenizers have it");
    const std::string problem = builder.add(id.get<int64_t>(), *bytes);
    require<IoError>(problem.empty(), problem.empty() ? "" : where(), ": ", problem);
  }
}

// The two sides of a merge, ["a", "b"] or "a b", in bytes; nullopt for anything else.
std::optional<std::pair<std::string, std::string>> sides(const Json& merge) {
  std::string left, right;
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
    left = merge[0].get<std::string>();
    right = merge[1].get<std::string>();
  } else if (merge.is_string()) {
    const auto words = merge.get<std::string>();
    const size_t blank = words.find(' ');
    left = words.substr(0, blank);
    right = blank == std::string::npos ? "" : words.substr(blank + 1);
  }
  const std::optional<std::string> a = bytes_of_text(left), b = bytes_of_text(right);
  if (left.empty() || right.empty() || !a || !b) {
    return std::nullopt;
  }
  return std::pair(*a, *b);
}

void read_merges(const JsonValue& merges, VocabularyBuilder& builder) {
  if (!merges.value.is_array()) {
    merges.refuse("a list of merges");
  }
  for (size_t i = 0; i < merges.value.size(); ++i) {
    const auto where = [&] { return text(merges.where, "[", i, "]"); };
    const auto both = sides(merges.value[i]);
    if (!both) {
      JsonValue{merges.value[i], where()}.refuse("two tokens, \"a b\" or [\"a\", \"b\"]");
    }
    const std::string problem = builder.merge(both->first, both->second);
    require<IoError>(problem.empty(), problem.empty() ? "" : where(), ": ", problem);
  }
}

void read_added(const JsonValue& added, bool composes, VocabularyBuilder& builder) {
  if (!added.value.is_array()) {
    added.refuse("a list of added tokens");
  }
  for (size_t i = 0; i < added.value.size(); ++i) {
    const JsonValue token{added.value[i], text(added.where, "[", i, "]")};
    const JsonValue id = token.at("id");
    if (!id.value.is_number_integer() || id.value.get<int64_t>() < 0 ||
        id.value.get<int64_t>() > std::numeric_limits<int32_t>::max()) {
      id.refuse("an id, a whole number");
    }
    token.require_absent("single_word", {false});
    if (composes) {  // else it would be looked for in the text after NFC
      token.require_absent("normalized", {false});
    }
    const std::string problem = builder.add({.id = static_cast<int32_t>(id.value.get<int64_t>()),
                                             .content = token.words("content"),
                                             .special = token.flag("special", false),
                                             .strips_left = token.flag("lstrip", false),
                                             .strips_right = token.flag("rstrip", false)});
    require<IoError>(problem.empty(), token.where, ": ", problem);
  }
}

SplitRule split_rule(const JsonValue& part) {
  const JsonValue pattern = part.at("pattern");
  SplitRule rule;
  if (pattern.find("Regex").is_string()) {
    rule.pattern = pattern.find("Regex").get<std::string>();
  } else if (pattern.find("String").is_string()) {
    rule.pattern = quoted_pattern(pattern.find("String").get<std::string>());
  } else {
    pattern.refuse("{Regex: ...} or {String: ...}");
  }
  pattern_for_pcre2(rule.pattern, pattern.where);  // refuses unknown ones
  const std::string behavior = part.words("behavior");
  const bool invert = part.flag("invert", false);
  if (behavior == "Removed") {
    rule.keep = invert ? SplitRule::Keep::matches : SplitRule::Keep::gaps;
  } else if (behavior != "Isolated") {
    part.at("behavior").refuse("Isolated or Removed, as heed has no other");
  }
  return rule;
}

// Adds the rules of a pre-tokenizer. `bytes`: whether ByteLevel, which comes last, has been there.
void read_rules(const JsonValue& part, BpeModel& model, bool& bytes) {
  const std::string type = part.words("type");
  if (type == "Sequence") {
    const JsonValue parts = part.at("pretokenizers");
    if (!parts.value.is_array()) {
      parts.refuse("a list of pre-tokenizers");
    }
    for (size_t i = 0; i < parts.value.size(); ++i) {
      read_rules({parts.value[i], text(parts.where, "[", i, "]")}, model, bytes);
    }
    return;
  }
  require<IoError>(!bytes, part.where, ": expected ByteLevel to be the last one, got ",
                   printable(type), " after it");
  if (type == "Split") {
    model.rules.push_back(split_rule(part));
  } else if (type == "Digits") {
    const bool each = part.flag("individual_digits", false);
    model.rules.push_back({each ? R"(\p{N})" : R"(\p{N}+)", SplitRule::Keep::all});
  } else if (type == "ByteLevel") {
    bytes = true;
    model.prefix_space = part.flag("add_prefix_space", true);
    require<IoError>(!model.prefix_space || model.rules.empty(), part.where,
                     ".add_prefix_space: ", "expected false after other pre-tokenizers, got true");
    if (part.flag("use_regex", true)) {
      model.rules.push_back({gpt2_pattern, SplitRule::Keep::all});
    }
  } else {
    part.at("type").refuse("ByteLevel, Split, Digits or Sequence");
  }
}

}  // namespace

BpeModel bpe_from_json(std::string_view text, const std::string& where) {
  require_strict_json(text, where, {deepest_of_file});
  const auto whole = Json::parse(text);
  const JsonValue file{whole, where + ": "};
  const JsonValue model = file.at("model");
  if (model.value.is_object() && model.value.contains("type") && model.words("type") != "BPE") {
    model.at("type").refuse("BPE");
  }
  const Json nfc{{"type", "NFC"}};
  file.require_absent("normalizer", {nfc, {{"type", "Sequence"}, {"normalizers", {nfc}}}});
  model.require_absent("dropout", {0});
  model.require_absent("continuing_subword_prefix", {""});
  model.require_absent("end_of_word_suffix", {""});
  model.require_absent("byte_fallback", {false});

  BpeModel out;
  out.composes = !file.find("normalizer").is_null();
  bool bytes = false;
  if (const JsonValue rules = file.at("pre_tokenizer"); !rules.value.is_null()) {
    read_rules(rules, out, bytes);
  }
  require<IoError>(bytes, where, ": pre_tokenizer: expected ByteLevel: heed reads tokenizers over ",
                   "bytes");
  const Json& added = file.find("added_tokens");
  const JsonValue vocabulary = model.at("vocab");
  VocabularyBuilder builder(out, static_cast<int64_t>(vocabulary.value.size() + added.size()));
  read_vocabulary(vocabulary, added, builder);
  read_merges(model.at("merges"), builder);
  if (!added.is_null()) {
    read_added(file.at("added_tokens"), out.composes, builder);
  }
  out.whole_pieces = model.flag("ignore_merges", false);
  const std::string after = file.find("post_processor").dump();
  out.adds_tokens = after.find("SpecialToken") != after.npos || after.find("\"cls\"") != after.npos;
  const JsonValue ours{file.find("heedgrad"), where + ": heedgrad"};
  out.ranked_by_result = ours.flag("ranked_by_result", false);
  return out;
}

}  // namespace heed
