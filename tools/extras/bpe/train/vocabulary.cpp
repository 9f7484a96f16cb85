#include "tools/extras/bpe/train/vocabulary.h"

#include "autograd/base/error.h"
#include "layers/text/display.h"
#include "tools/extras/bpe/train/text/byte_text.h"

namespace heed {

namespace {

// The bytes of a token as the file writes them.
std::string shown(const std::string& bytes) { return printable(byte_text(bytes)); }

}  // namespace

VocabularyBuilder::VocabularyBuilder(BpeModel& model, int64_t entries)
    : model_(model), most_ids_(2 * entries + 1024) {}

std::string VocabularyBuilder::add_at(int64_t id, const std::string& bytes) {
  if (bytes.empty()) {
    return "expected a token, got nothing";
  }
  if (id < 0 || id >= most_ids_) {
    return text("expected an id from 0 to ", most_ids_ - 1, ", got ", id);
  }
  const auto at = static_cast<size_t>(id);
  if (at >= model_.tokens.size()) {
    model_.tokens.resize(at + 1);
  }
  if (!model_.tokens[at].empty()) {
    return text("expected an id of its own, got ", id, ", which is that of ",
                shown(model_.tokens[at]));
  }
  model_.tokens[at] = bytes;
  return "";
}

std::string VocabularyBuilder::add(int64_t id, const std::string& bytes) {
  if (const auto before = ids_.find(bytes); before != ids_.end()) {
    return text("expected every token once, got ", shown(bytes), " again");
  }
  std::string problem = add_at(id, bytes);
  if (problem.empty()) {
    ids_.emplace(bytes, static_cast<int32_t>(id));
  }
  return problem;
}

std::string VocabularyBuilder::add(const AddedToken& token) {
  if (token.content.empty()) {
    return "expected a token, got nothing";
  }
  if (!added_ids_.insert(token.id).second || !added_contents_.insert(token.content).second) {
    return text("expected every added token once, got ", printable(token.content), " again");
  }
  // The vocabulary holds the same characters, but read as the alphabet of bytes.
  const auto same = ids_.find(bytes_of_text(token.content).value_or(""));
  if (same != ids_.end() && same->second != token.id) {
    return text("expected the id ", same->second, " that the vocabulary has for ",
                printable(token.content), ", got ", token.id);
  }
  const auto at = static_cast<size_t>(token.id);
  if (token.id >= 0 && at < model_.tokens.size() && !model_.tokens[at].empty()) {
    if (byte_text(model_.tokens[at]) != token.content && model_.tokens[at] != token.content) {
      return text("expected an id of its own, got ", token.id, ", which is that of ",
                  shown(model_.tokens[at]));
    }
    model_.tokens[at].clear();
  }
  std::string problem = add_at(token.id, token.content);
  if (problem.empty()) {
    model_.added.push_back(token);
  }
  return problem;
}

std::string VocabularyBuilder::merge(const std::string& left, const std::string& right) {
  const auto a = ids_.find(left), b = ids_.find(right);
  if (a == ids_.end() || b == ids_.end()) {
    return text("expected two tokens of the vocabulary, got ", shown(left), " and ", shown(right));
  }
  if (!ids_.contains(left + right)) {
    return text("expected two tokens whose merge is a token too, got ", shown(left), " and ",
                shown(right));
  }
  model_.merges.emplace_back(a->second, b->second);
  return "";
}

}  // namespace heed
