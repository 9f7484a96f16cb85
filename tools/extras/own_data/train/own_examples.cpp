#include "tools/extras/own_data/train/own_examples.h"

#include <algorithm>

#include "autograd/base/modes.h"
#include "autograd/base/rethrow.h"
#include "layers/text/display.h"
#include "train/files/human_readable.h"

namespace heed {

namespace {

// Room in a batch for lists of up to `length` tokens and one mark: in all one of four lengths,
// multiples of 8, and at most `longest` without the mark. Each shape of a batch keeps its own
// blocks in the memory pool, so there are few.
int64_t room_for(int64_t length, int64_t longest) {
  constexpr int64_t unit = 8, lengths = 4;
  const int64_t step = unit * (longest / (unit * lengths) + 1);
  return dry_run() ? longest : std::min(longest, (length / step + 1) * step - 1);
}

}  // namespace

std::vector<int32_t> tokens_of(const Tokenizer& tokenizer, const std::string& cell) {
  std::vector<int32_t> ids = tokenizer.encode(cell);
  require<ConfigError>(!ids.empty(), "expected at least one ", tokenizer.unit(), ", got ",
                       printable(cell));
  return ids;
}

OwnExamples::OwnExamples(const ExampleMaker& maker, const SplitRows& rows,
                         const OwnDataConfig& config, int64_t ids, const TaskSetup& setup,
                         const PairSizes& room)
    : max_length_(config.max_length),
      most_(setup.data == TaskSetup::Data::fitted ? room : PairSizes{INT64_MAX, INT64_MAX}),
      maker_(maker),
      tokens_(ids),
      longest_(rows.files().empty() ? room : PairSizes{}) {
  if (rows.files().empty()) return;
  tokens_.reserve(rows.bytes());  // memory that stays untouched is not taken
  for (size_t file = 0; file < rows.files().size(); ++file) take(rows, file);
  rows.require_unchanged();
  require_enough(rows, std::max<int64_t>(1, setup.batch_size));
  epochs_ = Epochs(example_count(Split::train), config.shuffle);
}

void OwnExamples::take(const SplitRows& rows, size_t file) {
  const TextRows& all = rows.files()[file];
  RowMistakes mistakes(all.path.string());
  for (const TextRow& row : all.rows) {
    OwnExample example;
    if (const auto wrong = error_of<ConfigError>([&] { example = maker_.example(row); })) {
      mistakes.add(row.line, *wrong);
      continue;
    }
    if (is_too_long(example.input, most_.source) || is_too_long(example.target, most_.target)) {
      ++too_long_;
      continue;
    }
    const Split split = rows.split(file, row);
    numbers_[split == Split::train ? 0 : 1].push_back(static_cast<int32_t>(lines_.size()));
    lines_.push_back(static_cast<int32_t>(file == 0 ? row.line : -row.line));
    training_tokens_ += split == Split::train ? example.tokens : 0;
    keep(example);
  }
  mistakes.throw_if_any();
}

void OwnExamples::keep(const OwnExample& example) {
  for (const std::vector<int32_t>* const list : {&example.input, &example.target}) {
    tokens_.append(*list);
    ends_.push_back(tokens_.size());
  }
  longest_.source = std::max(longest_.source, std::ssize(example.input));
  longest_.target = std::max(longest_.target, std::ssize(example.target));
}

void OwnExamples::require_enough(const SplitRows& rows, int64_t batch_size) const {
  const int64_t train = example_count(Split::train), others = example_count(Split::validation);
  if (train + others == 0) {
    throw TaskError(max_length_ ? "max_length" : "path",
                    text("none of the ", grouped(too_long_), " examples has at most ",
                         max_length_.value_or(most_.source), " tokens",
                         max_length_ ? "" : ", which the model has room for"));
  }
  if (train < batch_size) {
    throw TaskError("path",
                    text(rows.files()[0].path.string(), ": expected at least train.batch_size ",
                         batch_size, " examples to train on, got ", train,
                         others > 0 ? text(" and ", others, " to validate with") : "",
                         train > 0 ? "; lower train.batch_size" : ""));
  }
}

int64_t OwnExamples::length(int64_t list) const {
  return ends_[static_cast<size_t>(list) + 1] - ends_[static_cast<size_t>(list)];
}

std::vector<int32_t> OwnExamples::list(int64_t at) const {
  std::vector<int32_t> ids(static_cast<size_t>(length(at)));
  tokens_.copy(ends_[static_cast<size_t>(at)], ids);
  return ids;
}

// In a dry run only the number of examples matters, and the batch is as long as can be.
Batch OwnExamples::batch_of(std::span<const int64_t> numbers) const {
  PairSizes room;
  for (const int64_t number : numbers) {
    room.source = std::max(room.source, length(2 * number));
    room.target = std::max(room.target, length(2 * number + 1));
  }
  Batch batch = maker_.blank(std::ssize(numbers), {room_for(room.source, longest_.source),
                                                   room_for(room.target, longest_.target)});
  for (int64_t i = 0; i < std::ssize(numbers) && !dry_run(); ++i) {
    const int64_t number = numbers[static_cast<size_t>(i)];
    maker_.fill(batch, i, list(2 * number), list(2 * number + 1));
  }
  return batch;
}

Batch OwnExamples::next(int64_t batch_size, Generator& data) {
  if (!numbers_[0].empty()) return Dataset::next(batch_size, data);
  require<ConfigError>(dry_run(), "data: ", no_examples);
  return maker_.blank(batch_size, longest_);
}

Batch OwnExamples::examples(Split split, const std::vector<int64_t>& which) const {
  require<ConfigError>(!lines_.empty() || which.empty(), "data: ", no_examples);
  require_examples(which, example_count(split));
  std::vector<int64_t> numbers;
  for (const int64_t example : which) numbers.push_back(number_of(split, example));
  Batch batch = batch_of(numbers);
  batch.numbers = which;
  return batch;
}

}  // namespace heed
