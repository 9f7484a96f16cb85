// Random sequences of numbered symbols, for copy, reverse and sort.
#pragma once

#include <string>
#include <vector>

#include "layers/config/fields.h"
#include "train/extras/toy_tasks/made_examples.h"

namespace heed {

struct SymbolSequences {
  int64_t length = 8;                 // maximum length
  std::optional<int64_t> min_length;  // minimum length; default: `length`
  int64_t symbols = 32;
  void fields(Fields& f);
  // Must be called from the check() of the struct that contains these fields.
  void check(ConfigErrors& errors, const ConfigNode& at) const;

  int64_t shortest() const { return min_length.value_or(length); }
  bool lengths_differ() const { return shortest() < length; }
  // Draws the length (if lengths differ), then every symbol, as torch.randint.
  std::vector<int32_t> draw(Generator& generator) const;
  // A tenth of all possible sequences, but at least 1 and at most most_held_out; and of each length
  // a tenth and one more at most. The rest is left to train on, so that no length comes up in
  // validation only.
  HeldOut held_out() const;
  // Throws ConfigError if the length is not allowed.
  void check_length(size_t count) const;
  // "sequences of 4 to 16 out of 32 symbols"
  std::string description() const;

 private:
  double different(size_t of_length) const;
};

}  // namespace heed
