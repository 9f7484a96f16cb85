// What the file of a byte-level tokenizer says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heed {

// A way to cut a text, or the pieces that an earlier rule made, into smaller pieces.
struct SplitRule {
  enum class Keep {
    all,      // the matches of the pattern, and what is between them
    matches,  // only the matches: the rest of the text is dropped
    gaps      // only what is between them
  };
  std::string pattern;  // as in tokenizer.json (text/published_patterns.h)
  Keep keep = Keep::all;

  bool operator==(const SplitRule&) const = default;
};

// A token that stands outside of the merges, for a whole text: "<|endoftext|>".
struct AddedToken {
  int32_t id = 0;
  std::string content;
  // Special: text that happens to contain it is encoded as text. Callers can ask for the token.
  bool special = true;
  bool strips_left = false, strips_right = false;  // takes the white space there with it

  bool operator==(const AddedToken&) const = default;
};

struct BpeModel {
  std::vector<std::string> tokens;  // bytes, by id; "": no token has this id
  // Pairs of ids that merge, the most urgent first.
  std::vector<std::pair<int32_t, int32_t>> merges;
  // True: the pair with the lowest id of its result merges first, as tiktoken does it. The order of
  // `merges` then has no meaning. Files have it that heed made of a .tiktoken.
  bool ranked_by_result = false;
  bool whole_pieces = false;  // a piece that is a token is not merged from its bytes
  bool composes = false;      // the text between added tokens is brought to NFC
  bool prefix_space = false;  // a text is encoded with a blank before it
  std::vector<SplitRule> rules;
  std::vector<AddedToken> added;
  bool adds_tokens = false;      // the file puts tokens around each text, heed does not
  std::optional<int32_t> begin;  // a token that a file puts before each text; not read

  bool operator==(const BpeModel&) const = default;
};

}  // namespace heed
