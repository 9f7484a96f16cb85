#include "train/own_data/token_lists.h"

#include <algorithm>

namespace heed {

void TokenLists::append(std::span<const int32_t> ids) {
  tokens_.append(ids);
  ends_.push_back(tokens_.size());
  longest_ = std::max(longest_, static_cast<int64_t>(ids.size()));
}

std::vector<int32_t> TokenLists::operator[](int64_t list) const {
  std::vector<int32_t> ids(static_cast<size_t>(length(list)));
  tokens_.copy(end(list - 1), ids);
  return ids;
}

}  // namespace heed
