#include "tools/extras/bpe/train/added_tokens.h"

#include <algorithm>

namespace heed {

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::sort(tokens_.begin(), tokens_.end(),
            [](const AddedToken& a, const AddedToken& b) { return a.content < b.content; });
  for (const AddedToken& token : tokens_) {
    // What this token begins with, the one before it begins with too, or is.
    size_t shorter = prefix_.size() - 1;
    while (shorter != none && !token.content.starts_with(tokens_[shorter].content)) {
      shorter = prefix_[shorter];
    }
    prefix_.push_back(shorter);
    begins_[static_cast<unsigned char>(token.content[0])] = true;
  }
}

const AddedToken* AddedTokens::find(std::string_view text, size_t from, size_t& at) const {
  for (at = from; !tokens_.empty() && at < text.size(); ++at) {
    if (begins_[static_cast<unsigned char>(text[at])]) {
      if (const AddedToken* const token = longest_prefix(text.substr(at))) {
        return token;
      }
    }
  }
  at = text.size();
  return nullptr;
}

// Let p be the last token that is not after the text in the order of bytes. Every token that the
// text begins with is p or a prefix of p: between such a token and the text there are only texts
// that begin with it.
const AddedToken* AddedTokens::longest_prefix(std::string_view text) const {
  const auto after = std::upper_bound(
      tokens_.begin(), tokens_.end(), text,
      [](std::string_view value, const AddedToken& token) { return value < token.content; });
  size_t found = static_cast<size_t>(after - tokens_.begin()) - 1;
  if (found == none) {
    return nullptr;
  }
  const std::string_view last = tokens_[found].content;
  const auto differs = std::mismatch(last.begin(), last.end(), text.begin(), text.end()).first;
  const auto common = static_cast<size_t>(differs - last.begin());
  while (found != none && tokens_[found].content.size() > common) {
    found = prefix_[found];
  }
  return found == none ? nullptr : &tokens_[found];
}

}  // namespace heed
