// Collects the tokens and merges of a tokenizer file while it is read, and refuses what cannot be.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "tools/extras/bpe/train/model.h"

namespace heed {

// Each function returns what is wrong, as the end of a message, or "" after adding.
class VocabularyBuilder {
 public:
  // `entries`: how many tokens the file has. Ids may leave gaps, but most must belong to a token.
  VocabularyBuilder(BpeModel& model, int64_t entries);

  std::string add(int64_t id, const std::string& bytes);
  // An added token. The vocabulary may have it too, under the same id.
  std::string add(const AddedToken& token);
  // Two tokens that merge, in bytes.
  std::string merge(const std::string& left, const std::string& right);

 private:
  std::string add_at(int64_t id, const std::string& bytes);

  BpeModel& model_;
  const int64_t most_ids_;
  std::unordered_map<std::string, int32_t> ids_;
  std::unordered_set<int32_t> added_ids_;
  std::unordered_set<std::string> added_contents_;
};

}  // namespace heed
