#include "train/extras/toy_tasks/symbol_sequences.h"

#include <algorithm>
#include <cmath>

#include "autograd/random/fills.h"
#include "train/files/human_readable.h"

namespace heed {

void SymbolSequences::fields(Fields& f) {
  f.optional("length", length, in_range(1, 1024), "symbols of a sequence, of the longest one");
  f.optional("min_length", min_length, in_range(1, 1024), "symbols of the shortest one", "length");
  f.optional("symbols", symbols, in_range(2, 65000), "different symbols there are");
}

void SymbolSequences::check(ConfigErrors& errors, const ConfigNode& at) const {
  if (shortest() > length) {
    errors.add_field(at, "min_length", "must be at most length ", length, ", got ", shortest());
  }
}

std::vector<int32_t> SymbolSequences::draw(Generator& generator) const {
  std::vector<int64_t> drawn(1, length);
  if (lengths_differ()) {
    fill_randint(generator, drawn, shortest(), length + 1);
  }
  drawn.resize(static_cast<size_t>(drawn[0]));
  fill_randint(generator, drawn, 0, symbols);
  return {drawn.begin(), drawn.end()};
}

// The number of sequences of this length.
double SymbolSequences::different(size_t of_length) const {
  return std::pow(static_cast<double>(symbols), static_cast<double>(of_length));
}

HeldOut SymbolSequences::held_out() const {
  double possible = 0;
  for (int64_t l = shortest(); l <= length; ++l) {
    possible += different(static_cast<size_t>(l));
  }
  return {tenth_of(possible), {}, [all = *this](size_t of_length) {
            return static_cast<int64_t>(
                       std::min(all.different(of_length) / 10, double{most_held_out})) +
                   1;
          }};
}

void SymbolSequences::check_length(size_t count) const {
  const auto symbol_count = static_cast<int64_t>(count);
  require<ConfigError>(symbol_count >= shortest() && symbol_count <= length, "expected ",
                       lengths_differ() ? text(shortest(), " to ", length) : text(length),
                       " symbols, numbers from 0 to ", symbols - 1, " with blanks between them, ",
                       "got ", symbol_count);
}

std::string SymbolSequences::description() const {
  return text("sequences of ", lengths_differ() ? text(shortest(), " to ") : "", length, " out of ",
              grouped(symbols), " symbols");
}

}  // namespace heed
