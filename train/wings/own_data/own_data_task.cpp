#include "train/wings/own_data/own_data_task.h"

#include <algorithm>
#include <cstdlib>

#include "autograd/base/modes.h"
#include "autograd/base/rethrow.h"
#include "autograd/ops/log_softmax.h"
#include "layers/text/display.h"
#include "train/files/number_words.h"
#include "train/tokenizers/vocabulary.h"
#include "train/wings/classes/prompt_length.h"

namespace heed {

namespace {

constexpr int64_t examples_in_plan = 3;

// Adds the examples of a batch with numbers to Score::hardest. logits (B, ..., V): each example's
// loss is its mean over the targets that count.
void add_hardest(const Array& logits, const Batch& batch, Score& score) {
  const NoGrad no_graph;
  const Array log_p = log_softmax(Tensor(logits)).value();
  const int64_t width = logits.dim(-1), count = std::ssize(batch.numbers);
  const int64_t each = count > 0 ? batch.targets.size() / count : 0;
  for (int64_t b = 0; b < count; ++b) {
    double sum = 0;
    int64_t counted = 0;
    for (int64_t i = b * each; i < (b + 1) * each; ++i) {
      const int32_t target = batch.targets.data()[i];
      if (target != ignored_target) {
        sum -= static_cast<double>(log_p.data()[i * width + target]);
        ++counted;
      }
    }
    if (counted > 0) {
      score.hardest.push_back(
          {batch.numbers[static_cast<size_t>(b)], sum / static_cast<double>(counted)});
    }
  }
  score.keep_hardest();
}

// Room in a batch for lists of up to `length` tokens and one mark: in all one of four lengths,
// multiples of 8, and at most `longest` without the mark. Each shape of a batch keeps its own
// blocks in the memory pool, so there are few.
int64_t room_for(int64_t length, int64_t longest) {
  constexpr int64_t unit = 8, lengths = 4;
  const int64_t step = unit * (longest / (unit * lengths) + 1);
  return dry_run() ? longest : std::min(longest, (length / step + 1) * step - 1);
}

}  // namespace

std::shared_ptr<const Tokenizer> OwnDataTask::make_tokenizer(
    const TaskSetup& setup, std::span<const std::string_view> corpus, const char* kept_as) const {
  const auto make = [&] {
    return tokenizer_registry().make(config_.tokenizer,
                                     TokenizerSetup{setup.config_folder, setup.checkpoint, corpus,
                                                    read_vocabulary(setup.vocabulary, kept_as)});
  };
  return at_field<IoError, TaskFileError>(
      "tokenizer.path", [&] { return at_field<ConfigError, TaskError>("tokenizer", make); });
}

void OwnDataTask::take(const SplitRows& rows, const TaskSetup& setup, int64_t target_count) {
  const int64_t source_count = source_tokenizer_ ? source_tokenizer_->mark(0) : 0;
  tokens_ = TokenRow(std::max<int64_t>({target_count, source_count, tokenizer_->mark(0)}));
  tokens_.reserve(rows.bytes());  // memory that stays untouched is not taken
  columns_ = rows.files()[0].columns;
  for (size_t file = 0; file < rows.files().size(); ++file) {
    const TextRows& all = rows.files()[file];
    paths_.push_back(all.path);
    if (!all.warning.empty()) {
      warnings_.push_back(all.warning);
    }
    RowMistakes mistakes(all.path.string());
    for (const TextRow& row : all.rows) {
      Example example;
      const auto wrong = error_of<ConfigError>([&] {
        example.input = tokens_of(reader(), row.cells[0]);
        example.tokens = std::ssize(example.input);
        complete(row, example);
      });
      if (wrong) {
        mistakes.add(row.line, *wrong);
        continue;
      }
      if (is_too_long(example.input) || is_too_long(example.target)) {
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
  if (rows.validation_rows_seen() > 0) {
    warnings_.push_back(text(rows.validation_rows_seen(), " examples of ",
                             paths_[1].filename().string(), " are in ",
                             paths_[0].filename().string(),
                             " too: the validation loss is lower than that of new examples"));
  }
  rows.require_unchanged();
  require_enough(std::max<int64_t>(1, setup.batch_size));
  epochs_ = Epochs(example_count(Split::train), config_.shuffle);
}

void OwnDataTask::keep(const Example& example) {
  for (const std::vector<int32_t>* const list : {&example.input, &example.target}) {
    tokens_.append(*list);
    ends_.push_back(tokens_.size());
  }
  longest_.source = std::max(longest_.source, std::ssize(example.input));
  longest_.target = std::max(longest_.target, std::ssize(example.target));
}

void OwnDataTask::require_enough(int64_t batch_size) const {
  const int64_t train = example_count(Split::train), others = example_count(Split::validation);
  if (train + others == 0) {
    throw TaskError("max_length", text("none of the ", grouped(too_long_), " examples has at most ",
                                       *config_.max_length, " tokens"));
  }
  if (train < batch_size) {
    throw TaskError("path", text(paths_[0].string(), ": expected at least train.batch_size ",
                                 batch_size, " examples to train on, got ", train,
                                 others > 0 ? text(" and ", others, " to validate with") : "",
                                 train > 0 ? "; lower train.batch_size" : ""));
  }
}

std::vector<int32_t> OwnDataTask::tokens_of(const Tokenizer& tokenizer, const std::string& cell) {
  std::vector<int32_t> ids = tokenizer.encode(cell);
  require<ConfigError>(!ids.empty(), "expected at least one ", tokenizer.unit(), ", got ",
                       printable(cell));
  return ids;
}

// ---- batches

int64_t OwnDataTask::length(int64_t list) const {
  return ends_[static_cast<size_t>(list) + 1] - ends_[static_cast<size_t>(list)];
}

std::vector<int32_t> OwnDataTask::list(int64_t at) const {
  std::vector<int32_t> ids(static_cast<size_t>(length(at)));
  tokens_.copy(ends_[static_cast<size_t>(at)], ids);
  return ids;
}

// In a dry run only the number of examples matters, and the batch is as long as can be.
Batch OwnDataTask::batch_of(std::span<const int64_t> numbers) const {
  PairSizes room;
  for (const int64_t number : numbers) {
    room.source = std::max(room.source, length(2 * number));
    room.target = std::max(room.target, length(2 * number + 1));
  }
  Batch batch = blank(std::ssize(numbers), {room_for(room.source, longest_.source),
                                            room_for(room.target, longest_.target)});
  for (int64_t i = 0; i < std::ssize(numbers) && !dry_run(); ++i) {
    const int64_t number = numbers[static_cast<size_t>(i)];
    fill(batch, i, list(2 * number), list(2 * number + 1));
  }
  return batch;
}

Batch OwnDataTask::examples(Split split, const std::vector<int64_t>& which) const {
  require_examples(which, example_count(split));
  std::vector<int64_t> numbers;
  for (const int64_t example : which) {
    numbers.push_back(number_of(split, example));
  }
  Batch batch = batch_of(numbers);
  batch.numbers = which;
  return batch;
}

void OwnDataTask::score(const Array& output, const Batch& batch, Score& score) const {
  Task::score(output, batch, score);
  add_hardest(output, batch, score);
}

std::string OwnDataTask::location(Split split, int64_t example) const {
  const int32_t line = lines_[static_cast<size_t>(number_of(split, example))];
  return text(paths_[line > 0 ? 0 : 1].filename().string(), ":", std::abs(line));
}

std::string OwnDataTask::description() const {
  const std::string held_out = grouped(example_count(Split::validation));
  return text(paths_[0].filename().string(), ": ", grouped(example_count(Split::train)),
              " examples to train on, ",
              paths_.size() > 1
                  ? text(held_out, " of ", paths_[1].filename().string(), " to validate with")
                  : held_out + " held out by their hash",
              ", ", vocabulary_in_words(),
              too_long_ > 0 ? text("; ", grouped(too_long_), " longer than max_length ",
                                   *config_.max_length, " are left out")
                            : "");
}

std::vector<std::pair<std::string, std::string>> OwnDataTask::details() const {
  std::vector<std::pair<std::string, std::string>> lines;
  if (!columns_.empty()) {
    lines.emplace_back("columns", columns_);
  }
  for (int64_t i = 0; i < std::min(examples_in_plan, example_count(Split::train)); ++i) {
    lines.emplace_back("example", text('"', printable(input_text(Split::train, i), 60), "\" -> \"",
                                       printable(target_text(Split::train, i), 60), '"'));
  }
  return lines;
}

std::string OwnDataTask::vocabulary_in_words() const {
  const std::string known = text(grouped(reader().mark(0)), " ", reader().unit(), "s");
  return source_tokenizer_ ? text(known, " to read, ", grouped(tokenizer_->mark(0)), " to write")
                           : known;
}

// ---- answers

void OwnDataTask::check_prompt(const std::string& prompt) const {
  require_length(reader().encode(prompt).size(), longest_.source, reader().unit());
}

Answer OwnDataTask::answer(Module& model, const std::string& prompt,
                           const AnswerOptions& options) const {
  check_prompt(prompt);
  Answer answer = reply(model, reader().encode(prompt), options);
  options.say(answer.text);
  return answer;
}

std::string OwnDataTask::input_text(Split split, int64_t example) const {
  return reader().decode(input(split, example));
}

std::string OwnDataTask::target_text(Split split, int64_t example) const {
  return tokenizer_->decode(target(split, example));
}

std::string OwnDataTask::answer(Module& model, Split split, int64_t example) const {
  return reply(model, input(split, example), {}).text;
}

}  // namespace heed
