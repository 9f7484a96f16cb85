// Many short lists of token ids, one after another in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "train/data/windows.h"

namespace heed {

class TokenLists {
 public:
  explicit TokenLists(int64_t vocab_size) : tokens_(0, vocab_size) {}

  // Room for so many lists with so many tokens in all. Memory that stays untouched is not taken.
  void reserve(int64_t lists, int64_t tokens) {
    ends_.reserve(static_cast<size_t>(lists));
    tokens_.reserve(tokens);
  }
  void append(std::span<const int32_t> ids) {
    tokens_.append(ids);
    ends_.push_back(tokens_.size());
    longest_ = std::max(longest_, static_cast<int64_t>(ids.size()));
  }
  int64_t length(int64_t list) const { return end(list) - end(list - 1); }
  int64_t longest() const { return longest_; }
  std::vector<int32_t> operator[](int64_t list) const {
    std::vector<int32_t> ids(static_cast<size_t>(length(list)));
    tokens_.copy(end(list - 1), ids);
    return ids;
  }

 private:
  int64_t end(int64_t list) const { return list < 0 ? 0 : ends_[static_cast<size_t>(list)]; }

  TokenRow tokens_;
  std::vector<int64_t> ends_;
  int64_t longest_ = 0;
};

}  // namespace heed
