// A long sequence of token ids, stored in 8 or 16 bits each if the vocabulary size allows it.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace heed {

class TokenRow {
 public:
  TokenRow() = default;
  // Empty, for ids below vocab_size.
  explicit TokenRow(int64_t vocab_size);
  explicit TokenRow(std::vector<uint16_t> ids) : ids_(std::move(ids)) {}
  explicit TokenRow(const std::vector<uint32_t>& ids)
      : ids_(std::vector<int32_t>(ids.begin(), ids.end())) {}

  int64_t size() const;
  // True if all ids are the same.
  bool is_constant() const;
  // Reserves room for `count` ids, so that append() need not move those before.
  void reserve(int64_t count);
  void append(std::span<const int32_t> ids);
  // out[i] = tokens[begin + i]
  void copy(int64_t begin, std::span<int32_t> out) const;

 private:
  std::variant<std::vector<uint8_t>, std::vector<uint16_t>, std::vector<int32_t>> ids_;
};

}  // namespace heed
