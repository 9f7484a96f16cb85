// Whether the number of ones so far is odd, at each place of a sequence of bits. A recurrent
// network needs one bit of memory. A transformer of fixed depth finds it hard, and the harder the
// longer the sequence: Hahn 2020, "Theoretical Limitations of Self-Attention in Neural Sequence
// Models".
//   ids (B, length) in {0, 1};  target_t = (ids_0 + ... + ids_t) mod 2
#pragma once

#include <cmath>

#include "train/extras/toy_tasks/symbol_task.h"

namespace heed {

struct Parity {
  static constexpr const char* help = "bits: whether the number of ones so far is odd";

  int64_t length = 16;
  void fields(Fields& f) { f.optional("length", length, in_range(4, 1024), "bits of a sequence"); }

  std::vector<std::string> names() const { return numbers_below(2); }
  int64_t tokens() const { return length; }
  HeldOut held_out() const { return tenth_of(std::exp2(static_cast<double>(length))); }
  std::string description() const { return text("parity: sequences of ", length, " bits"); }

  Question draw(Generator& generator) const { return draw_symbols(generator, length, 2); }

  void write(const Question& bits, std::span<int32_t> ids, std::span<int32_t> targets) const {
    int32_t odd = 0;
    for (size_t t = 0; t < ids.size(); ++t) {
      ids[t] = bits[t];
      odd ^= bits[t];
      targets[t] = odd;
    }
  }
};
using ParityTask = SymbolTask<Parity>;
HEED_TASK(ParityTask, "parity");

}  // namespace heed
