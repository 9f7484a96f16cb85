#include "train/tasks/symbol_sequences.h"

#include "autograd/random/fills.h"
#include "train/files/words.h"
#include "train/tasks/made_task.h"

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

// The number of sequences of this length, at most about symbols times 10 most_held_out.
int64_t SymbolSequences::different(int64_t of_length) const {
  int64_t all = 1;
  for (int64_t i = 0; i < of_length && all < 10 * most_held_out; ++i) {
    all *= symbols;
  }
  return all;
}

int64_t SymbolSequences::most_held_out_of(size_t of_length) const {
  return different(static_cast<int64_t>(of_length)) / 10 + 1;
}

int64_t SymbolSequences::held_out_count() const {
  int64_t all = 0;
  for (int64_t l = shortest(); l <= length && all < 10 * most_held_out; ++l) {
    all += different(l);
  }
  return std::max<int64_t>(1, std::min(all, 10 * most_held_out) / 10);
}

std::vector<std::string> SymbolSequences::names() const {
  std::vector<std::string> names;
  for (int64_t i = 0; i < symbols; ++i) {
    names.push_back(std::to_string(i));
  }
  return names;
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
