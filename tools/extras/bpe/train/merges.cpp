#include "tools/extras/bpe/train/merges.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "autograd/base/error.h"
#include "layers/text/display.h"
#include "layers/text/formatted.h"
#include "tools/extras/bpe/train/text/byte_text.h"

namespace heed {

namespace {

uint64_t key_of(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

// For a heap of the standard library, which keeps the largest on top.
bool is_later(const MergeScratch::Candidate& a, const MergeScratch::Candidate& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
}

}  // namespace

std::unordered_map<std::string, int32_t> ids_by_token(const BpeModel& model) {
  std::unordered_map<std::string, int32_t> ids;
  ids.reserve(model.tokens.size());
  std::unordered_set<int32_t> special;
  for (const AddedToken& token : model.added) {
    if (token.special) {
      special.insert(token.id);
    }
  }
  for (size_t id = 0; id < model.tokens.size(); ++id) {
    if (!model.tokens[id].empty() && !special.contains(static_cast<int32_t>(id))) {
      ids.emplace(model.tokens[id], static_cast<int32_t>(id));
    }
  }
  return ids;
}

bool is_written_as_special(const BpeModel& model, const std::string& bytes) {
  const std::string written = byte_text(bytes);
  return std::any_of(model.added.begin(), model.added.end(), [&](const AddedToken& token) {
    return token.special && token.content == written;
  });
}

Merges::Merges(const BpeModel& model, const std::string& where)
    : whole_pieces_(model.whole_pieces) {
  std::unordered_map<std::string, int32_t> ids = ids_by_token(model);
  std::fill(std::begin(of_byte_), std::end(of_byte_), -1);
  for (int byte = 0; byte < 256; ++byte) {
    const auto found = ids.find(std::string(1, static_cast<char>(byte)));
    of_byte_[byte] = found == ids.end() ? -1 : found->second;
  }
  merges_.reserve(model.merges.size());
  for (size_t i = 0; i < model.merges.size(); ++i) {
    const auto [left, right] = model.merges[i];
    const std::string &a = model.tokens[static_cast<size_t>(left)],
                      &b = model.tokens[static_cast<size_t>(right)];
    const auto result = ids.find(a + b);
    if (result == ids.end()) {
      if (is_written_as_special(model, a + b)) {
        continue;
      }
      fail<IoError>(where, ": merge ", i + 1, ": expected a token ", printable(byte_text(a + b)),
                    " for ", printable(byte_text(a)), " and ", printable(byte_text(b)),
                    ", got none");
    }
    const int32_t rank = model.ranked_by_result ? result->second : static_cast<int32_t>(i);
    merges_[key_of(left, right)] = {rank, result->second};
  }
  if (whole_pieces_) {
    tokens_ = std::move(ids);
  }
}

// Adds the pair that begins at `at` to the heap if it can merge.
void Merges::consider(MergeScratch& scratch, int32_t at) const {
  if (at < 0) {
    return;
  }
  const MergeScratch::Symbol& left = scratch.symbols[static_cast<size_t>(at)];
  if (left.next < 0) {
    return;
  }
  const int32_t right = scratch.symbols[static_cast<size_t>(left.next)].id;
  const auto merge = merges_.find(key_of(left.id, right));
  if (merge != merges_.end()) {
    scratch.heap.push_back({merge->second.rank, at, left.id, right, merge->second.result});
    std::push_heap(scratch.heap.begin(), scratch.heap.end(), is_later);
  }
}

void Merges::encode(std::string_view piece, MergeScratch& scratch,
                    std::vector<int32_t>& ids) const {
  if (whole_pieces_) {
    if (const auto whole = tokens_.find(std::string(piece)); whole != tokens_.end()) {
      ids.push_back(whole->second);
      return;
    }
  }
  auto& symbols = scratch.symbols;
  symbols.clear();
  const auto count = static_cast<int32_t>(piece.size());
  for (int32_t i = 0; i < count; ++i) {
    const auto byte = static_cast<unsigned char>(piece[static_cast<size_t>(i)]);
    if (of_byte_[byte] < 0) {
      fail<ConfigError>("the tokenizer has no token for the byte ", formatted("0x%02X", byte));
    }
    symbols.push_back({of_byte_[byte], i - 1, i + 1 < count ? i + 1 : -1});
  }
  scratch.heap.clear();
  for (int32_t i = 0; i + 1 < count; ++i) {
    consider(scratch, i);
  }
  while (!scratch.heap.empty()) {
    std::pop_heap(scratch.heap.begin(), scratch.heap.end(), is_later);
    const MergeScratch::Candidate best = scratch.heap.back();
    scratch.heap.pop_back();
    MergeScratch::Symbol& left = symbols[static_cast<size_t>(best.at)];
    // A merge on either side may have taken one of the two, or changed it.
    if (left.id != best.left || left.next < 0 ||
        symbols[static_cast<size_t>(left.next)].id != best.right) {
      continue;
    }
    MergeScratch::Symbol& right = symbols[static_cast<size_t>(left.next)];
    left.id = best.result;
    right.id = -1;
    left.next = right.next;
    if (right.next >= 0) {
      symbols[static_cast<size_t>(right.next)].previous = best.at;
    }
    consider(scratch, left.previous);
    consider(scratch, best.at);
  }
  for (int32_t i = 0; i >= 0 && count > 0; i = symbols[static_cast<size_t>(i)].next) {
    ids.push_back(symbols[static_cast<size_t>(i)].id);
  }
}

}  // namespace heed
