#include "train/data/token_row.h"

#include <algorithm>
#include <iterator>

namespace heed {

TokenRow::TokenRow(int64_t vocab_size) {
  if (vocab_size <= 1 << 8) {
    ids_.emplace<std::vector<uint8_t>>();
  } else if (vocab_size <= 1 << 16) {
    ids_.emplace<std::vector<uint16_t>>();
  } else {
    ids_.emplace<std::vector<int32_t>>();
  }
}

int64_t TokenRow::size() const {
  return std::visit([](const auto& ids) { return static_cast<int64_t>(ids.size()); }, ids_);
}

bool TokenRow::is_constant() const {
  const auto equal = [](const auto& ids) {
    return ids.empty() || std::equal(ids.begin() + 1, ids.end(), ids.begin());
  };
  return std::visit(equal, ids_);
}

void TokenRow::reserve(int64_t count) {
  std::visit([=](auto& ids) { ids.reserve(static_cast<size_t>(count)); }, ids_);
}

void TokenRow::append(std::span<const int32_t> more) {
  std::visit(
      [=](auto& ids) {
        using Id = typename std::decay_t<decltype(ids)>::value_type;
        std::transform(more.begin(), more.end(), std::back_inserter(ids),
                       [](int32_t id) { return static_cast<Id>(id); });
      },
      ids_);
}

void TokenRow::copy(int64_t begin, std::span<int32_t> out) const {
  std::visit([=](const auto& ids) { std::copy_n(ids.begin() + begin, out.size(), out.begin()); },
             ids_);
}

}  // namespace heed
