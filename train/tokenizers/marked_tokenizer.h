// A tokenizer with a few more tokens at the end of its vocabulary, as <start>, <end>, <class>. No
// text has them, and decoded text leaves them out.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "train/tokenizers/tokenizer.h"

namespace heed {

class MarkedTokenizer final : public Tokenizer {
 public:
  MarkedTokenizer(std::shared_ptr<const Tokenizer> inner, std::vector<std::string> marks)
      : inner_(std::move(inner)), marks_(std::move(marks)) {}

  // The id of mark number k.
  int32_t mark(int64_t k) const { return static_cast<int32_t>(inner_->vocab_size() + k); }
  const std::vector<std::string>& marks() const { return marks_; }
  const Tokenizer& inner() const { return *inner_; }

  int64_t vocab_size() const override { return inner_->vocab_size() + std::ssize(marks_); }
  const char* unit() const override { return inner_->unit(); }
  std::vector<int32_t> encode(const std::string& text) const override {
    return inner_->encode(text);
  }
  std::string decode(std::span<const int32_t> ids) const override;
  bool is_lossless() const override { return inner_->is_lossless(); }
  std::string name(int32_t id) const override;
  std::string stored() const override { return inner_->stored(); }
  std::string vocabulary() const override { return inner_->vocabulary(); }

 private:
  const std::shared_ptr<const Tokenizer> inner_;
  const std::vector<std::string> marks_;
};

}  // namespace heed
