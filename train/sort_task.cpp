#include "train/sort_task.h"

#include <algorithm>
#include <set>

#include "autograd/dry_run.h"
#include "train/words.h"

namespace heed {

namespace {

constexpr int64_t most_held_out = 2000;

// symbols^length, or 10 most_held_out when it is more.
int64_t sequences_there_are(int64_t symbols, int64_t length) {
  int64_t count = 1;
  for (int64_t i = 0; i < length && count < 10 * most_held_out; ++i) {
    count *= symbols;
  }
  return std::min(count, 10 * most_held_out);
}

// One row of inputs and targets, each `length` long.
void write_example(const std::vector<int32_t>& sequence, int32_t* x, int32_t* y) {
  std::copy(sequence.begin(), sequence.end(), x);
  std::copy(sequence.begin(), sequence.end(), y);
  std::sort(y, y + sequence.size());
}

}  // namespace

void SortTask::Config::fields(Fields& f) {
  f.optional("length", length, in_range(1, 1024), "symbols of a sequence");
  f.optional("symbols", symbols, in_range(2, 65536), "different symbols there are");
}

SortTask::SortTask(const Config& c, const TaskSetup& setup) : config_(c) {
  Generator generator(setup.seed);
  const int64_t count = std::max<int64_t>(1, sequences_there_are(c.symbols, c.length) / 10);
  held_out_ = draw_different(count, generator);
  sample_ = draw_different(count, generator);
}

void SortTask::draw(Sequence& sequence, Generator& generator) const {
  std::vector<int64_t> drawn(static_cast<size_t>(config_.length));
  do {
    fill_randint(generator, drawn, 0, config_.symbols);
    sequence.assign(drawn.begin(), drawn.end());
  } while (is_held_out(sequence));
}

std::vector<SortTask::Sequence> SortTask::draw_different(int64_t count,
                                                         Generator& generator) const {
  std::set<Sequence> different;
  Sequence sequence;
  while (static_cast<int64_t>(different.size()) < count) {
    draw(sequence, generator);
    different.insert(sequence);
  }
  return {different.begin(), different.end()};
}

bool SortTask::is_held_out(const Sequence& sequence) const {
  return std::binary_search(held_out_.begin(), held_out_.end(), sequence);
}

Batch SortTask::next(int64_t batch_size, Generator& data) {
  const Shape shape{batch_size, config_.length};
  Ids x = Ids::uninitialised(shape), y = Ids::uninitialised(shape);
  if (!dry_run()) {
    Sequence sequence;
    for (int64_t b = 0; b < batch_size; ++b) {
      draw(sequence, data);
      write_example(sequence, x.mutable_data() + b * config_.length,
                    y.mutable_data() + b * config_.length);
    }
  }
  return {Input(std::move(x)), std::move(y)};
}

int64_t SortTask::example_count(Split split) const {
  return static_cast<int64_t>((split == Split::train ? sample_ : held_out_).size());
}

Batch SortTask::examples(Split split, int64_t first, int64_t stride, int64_t count) const {
  require(first >= 0 && stride >= 1 && count >= 0 &&
              (count == 0 || first + (count - 1) * stride < example_count(split)),
          "examples: expected some of ", example_count(split), ", got ", count, " from ", first,
          " on, ", stride, " apart");
  const std::vector<Sequence>& from = split == Split::train ? sample_ : held_out_;
  const Shape shape{count, config_.length};
  Ids x = Ids::uninitialised(shape), y = Ids::uninitialised(shape);
  for (int64_t i = 0; i < count; ++i) {
    write_example(from[static_cast<size_t>(first + i * stride)],
                  x.mutable_data() + i * config_.length, y.mutable_data() + i * config_.length);
  }
  return {Input(std::move(x)), std::move(y)};
}

std::string SortTask::description() const {
  return text("sort: sequences of ", config_.length, " out of ", grouped(config_.symbols),
              " symbols, made as they are needed; ", grouped(example_count(Split::validation)),
              " held out");
}

}  // namespace heed
