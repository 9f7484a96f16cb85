#include "tools/extras/bpe/train/write.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/extras/bpe/train/text/byte_text.h"
#include "tools/extras/bpe/train/text/published_patterns.h"

namespace heed {

namespace {

using nlohmann::ordered_json;

// The pre-tokenizer ByteLevel, which writes the pieces in the alphabet of bytes.
ordered_json byte_level(bool prefix_space, bool use_regex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", prefix_space},
          {"trim_offsets", true},
          {"use_regex", use_regex}};
}

ordered_json pre_tokenizer(const BpeModel& model) {
  if (model.rules.size() == 1 && model.rules[0] == SplitRule{gpt2_pattern, SplitRule::Keep::all}) {
    return byte_level(model.prefix_space, true);
  }
  ordered_json parts = ordered_json::array();
  for (const SplitRule& rule : model.rules) {
    parts.push_back({{"type", "Split"},
                     {"pattern", {{"Regex", rule.pattern}}},
                     {"behavior", rule.keep == SplitRule::Keep::all ? "Isolated" : "Removed"},
                     {"invert", rule.keep == SplitRule::Keep::matches}});
  }
  parts.push_back(byte_level(model.prefix_space, false));
  return {{"type", "Sequence"}, {"pretokenizers", parts}};
}

ordered_json added_tokens(const BpeModel& model) {
  ordered_json tokens = ordered_json::array();
  for (const AddedToken& token : model.added) {
    tokens.push_back({{"id", token.id},
                      {"content", token.content},
                      {"single_word", false},
                      {"lstrip", token.strips_left},
                      {"rstrip", token.strips_right},
                      {"normalized", false},
                      {"special", token.special}});
  }
  return tokens;
}

std::string quoted(const std::string& text) { return ordered_json(text).dump(); }

// The token model.begin before each text, or nothing.
std::string post_processor(const BpeModel& model) {
  if (!model.begin) return "null";
  const std::string& bytes = model.tokens[static_cast<size_t>(*model.begin)];
  const bool added = std::any_of(model.added.begin(), model.added.end(),
                                 [&](const AddedToken& each) { return each.id == *model.begin; });
  const std::string name = quoted(added ? bytes : byte_text(bytes));
  const std::string text = R"({"SpecialToken": {"id": )" + name +
                           R"(, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}})";
  return R"({"type": "TemplateProcessing", "single": [)" + text + R"(], "pair": [)" + text +
         R"(, {"Sequence": {"id": "B", "type_id": 0}}], "special_tokens": {)" + name +
         R"(: {"id": )" + name + R"(, "ids": [)" + std::to_string(*model.begin) +
         R"(], "tokens": [)" + name + "]}}}";
}

// "Ġthe": 262, for every id. Written by hand: an ordered JSON object searches all its keys for each
// one that it gets.
std::string vocabulary(const BpeModel& model) {
  std::set<int32_t> added;
  for (const AddedToken& token : model.added) added.insert(token.id);
  std::string out;
  for (size_t id = 0; id < model.tokens.size(); ++id) {
    if (model.tokens[id].empty()) continue;
    const bool as_it_is = added.contains(static_cast<int32_t>(id));
    out += out.empty() ? "\n" : ",\n";
    out += quoted(as_it_is ? model.tokens[id] : byte_text(model.tokens[id]));
    out += ": " + std::to_string(id);
  }
  return out;
}

std::string merges(const BpeModel& model) {
  const auto side = [&](int32_t id) {
    return quoted(byte_text(model.tokens[static_cast<size_t>(id)]));
  };
  std::string out;
  for (const auto& [left, right] : model.merges) {
    out += (out.empty() ? "\n[" : ",\n[") + side(left) + ", " + side(right) + "]";
  }
  return out;
}

}  // namespace

std::string bpe_to_json(const BpeModel& model) {
  const ordered_json decoder = byte_level(true, true);
  std::string out = "{\n\"version\": \"1.0\",\n\"truncation\": null,\n\"padding\": null,\n";
  out += "\"added_tokens\": " + added_tokens(model).dump() + ",\n\"normalizer\": ";
  out += model.composes ? "{\"type\": \"NFC\"},\n" : "null,\n";
  out += "\"pre_tokenizer\": " + pre_tokenizer(model).dump() + ",\n\"post_processor\": ";
  out += post_processor(model) + ",\n\"decoder\": " + decoder.dump() + ",\n";
  out += model.ranked_by_result ? "\"heedgrad\": {\"ranked_by_result\": true},\n" : "";
  // Characters alone, without merges: tokenizers would leave out one that is not in the vocabulary.
  // A token for unknown ones that is not there makes that an error, as it is here.
  const bool characters = model.whole_pieces && model.merges.empty();
  out += "\"model\": {\"type\": \"BPE\", \"dropout\": null, \"unk_token\": ";
  out += characters ? "\"<unknown>\", " : "null, ";
  out += "\"continuing_subword_prefix\": null, \"end_of_word_suffix\": null, \"fuse_unk\": false, ";
  out += "\"byte_fallback\": false, \"ignore_merges\": ";
  out += model.whole_pieces ? "true" : "false";
  out += ",\n\"vocab\": {" + vocabulary(model) + "},\n\"merges\": [" + merges(model) + "]}\n}\n";
  return out;
}

}  // namespace heed
