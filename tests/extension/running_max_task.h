// A task: at each place of a random sequence, the largest symbol so far.
//   ids (B, length) in [0, symbols);  target_t = max(ids_0 ... ids_t)
#pragma once

#include <heed/train/extras/toy_tasks/symbol_task.h>
#include <heed/train/task.h>

namespace extension {

using namespace heed;

struct RunningMax {
  static constexpr const char* help = "the largest symbol so far";

  int64_t length = 16;
  int64_t symbols = 8;
  void fields(Fields& f) {
    f.optional("length", length, in_range(8, 1000), "symbols of a sequence");
    f.optional("symbols", symbols, in_range(4, 1000), "how many there are");
  }

  std::vector<std::string> names() const { return numbers_below(symbols); }  // of ids, in text
  int64_t tokens() const { return length; }
  HeldOut held_out() const { return most_held_out; }  // so many never come up in training
  std::string description() const {
    return text("running_max: the largest of ", symbols, " symbols so far");
  }

  // A sequence, and what the model is given and should answer for it.
  Question draw(Generator& generator) const { return draw_symbols(generator, length, symbols); }
  void write(const Question& sequence, std::span<int32_t> ids, std::span<int32_t> targets) const {
    int32_t largest = 0;
    for (size_t t = 0; t < ids.size(); ++t) {
      largest = std::max(largest, sequence[t]);
      ids[t] = sequence[t];
      targets[t] = largest;
    }
  }
};
using RunningMaxTask = SymbolTask<RunningMax>;

}  // namespace extension

HEED_TASK(extension::RunningMaxTask, "running_max");
