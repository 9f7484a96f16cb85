#include "train/tokenizers/marked_tokenizer.h"

#include <algorithm>

namespace heed {

std::string MarkedTokenizer::decode(std::span<const int32_t> ids) const {
  std::vector<int32_t> unmarked;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(unmarked),
               [&](int32_t id) { return id < mark(0); });
  return inner_->decode(unmarked);
}

std::string MarkedTokenizer::name(int32_t id) const {
  require(id >= 0 && id < vocab_size(), "tokenizer: expected ids in [0, ", vocab_size(), "), got ",
          id);
  return id < mark(0) ? inner_->name(id) : marks_[static_cast<size_t>(id - mark(0))];
}

}  // namespace heed
