// The merges of a byte pair encoding: symbols of a piece become tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/extras/bpe/train/model.h"

namespace heed {

// A piece while it merges. Kept by the caller, to be used again for the next piece.
struct MergeScratch {
  struct Symbol {
    int32_t id = 0;  // -1: merged into the symbol before it
    int32_t previous = 0;
    int32_t next = 0;
  };
  // A pair of neighbours that may merge: those that begin at symbol `at`.
  struct Candidate {
    int32_t rank = 0;
    int32_t at = 0;
    int32_t left = 0;
    int32_t right = 0;
    int32_t result = 0;
  };
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;  // the lowest rank on top, among equals the leftmost
};

class Merges {
 public:
  // Throws IoError, beginning with `where`, if the result of a merge is not a token.
  Merges(const BpeModel& model, const std::string& where);

  // Appends the tokens of a piece to `ids`. Throws ConfigError for a byte that is not a token.
  void encode(std::string_view piece, MergeScratch& scratch, std::vector<int32_t>& ids) const;

 private:
  struct Merge {
    int32_t rank = 0;
    int32_t result = 0;
  };
  void consider(MergeScratch& scratch, int32_t at) const;

  int32_t of_byte_[256];
  bool whole_pieces_ = false;
  std::unordered_map<uint64_t, Merge> merges_;       // by pair
  std::unordered_map<std::string, int32_t> tokens_;  // if whole_pieces_
};

// The ids of the tokens that a text is made of, by their bytes: of all but special ones.
std::unordered_map<std::string, int32_t> ids_by_token(const BpeModel& model);

// True if a token of these bytes would be written as a special token is. No merge makes one: a text
// that contains "<|endoftext|>" is text.
bool is_written_as_special(const BpeModel& model, const std::string& bytes);

}  // namespace heed
