#include "train/wings/own_data/own_data_task.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "autograd/base/modes.h"
#include "autograd/ops/log_softmax.h"
#include "train/files/words.h"
#include "train/tokenizers/vocabulary.h"

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

}  // namespace

OwnDataTask::OwnDataTask(const OwnDataConfig& c, const SplitRows& rows)
    : config_(c), validation_rows_seen_(rows.validation_rows_seen()) {
  for (const SplitRows::Part& part : rows.parts()) {
    paths_.push_back(part.path);
    if (!part.rows.warning().empty()) {
      warnings_.push_back(part.rows.warning());
    }
  }
  columns_ = rows.parts()[0].rows.columns_in_words();
}

std::shared_ptr<const Tokenizer> OwnDataTask::make_tokenizer(
    const TaskSetup& setup, std::span<const std::string_view> corpus, const char* kept_as) const {
  try {
    return tokenizer_registry().make(config_.tokenizer,
                                     TokenizerSetup{setup.config_folder, setup.checkpoint, corpus,
                                                    read_vocabulary(setup.vocabulary, kept_as)});
  } catch (const ConfigError& error) {
    throw TaskError("tokenizer", error.what());
  } catch (const IoError& error) {
    throw TaskFileError("tokenizer.path", error.what());
  }
}

void OwnDataTask::take(const SplitRows& rows, const TaskSetup& setup, const AddRow& add) {
  if (rows.size() > std::numeric_limits<int32_t>::max()) {
    throw TaskError("path", text("expected at most ", std::numeric_limits<int32_t>::max(),
                                 " examples, got ", rows.size()));
  }
  lines_.reserve(static_cast<size_t>(rows.size()));
  for (size_t part = 0; part < rows.parts().size(); ++part) {
    const TextRows& all = rows.parts()[part].rows;
    RowMistakes mistakes(rows.parts()[part].path.string());
    for (int64_t i = 0; i < all.size(); ++i) {
      const TextRows::Row row = all[i];
      int64_t tokens = 0;
      try {
        tokens = add(row);
      } catch (const ConfigError& error) {
        mistakes.add(row.line, error.what());
        continue;
      }
      if (tokens == 0) {
        ++too_long_;
        continue;
      }
      const Split split = rows.split(part, i);
      numbers_[split == Split::train ? 0 : 1].push_back(static_cast<int32_t>(lines_.size()));
      lines_.push_back(static_cast<int32_t>(part == 0 ? row.line : -row.line));
      training_tokens_ += split == Split::train ? tokens : 0;
    }
    mistakes.throw_if_any();
  }
  rows.require_unchanged();
  const int64_t train = example_count(Split::train), others = example_count(Split::validation);
  if (train + others == 0) {
    throw TaskError("max_length", text("none of the ", grouped(too_long_), " examples has at most ",
                                       *config_.max_length, " tokens"));
  }
  if (train < std::max<int64_t>(1, setup.batch_size)) {
    throw TaskError(
        "path", text(paths_[0].string(), ": expected at least train.batch_size ",
                     std::max<int64_t>(1, setup.batch_size), " examples to train on, got ", train,
                     others > 0 ? text(" and ", others, " to validate with") : "",
                     train > 0 ? "; lower train.batch_size" : ""));
  }
  epochs_ = Epochs(train, config_.shuffle);
}

std::vector<int32_t> OwnDataTask::tokens_of(const Tokenizer& tokenizer, std::string_view cell) {
  std::vector<int32_t> ids = tokenizer.encode(std::string(cell));
  require<ConfigError>(!ids.empty(), "expected at least one ", tokenizer.unit(), ", got ",
                       printable(cell));
  return ids;
}

Batch OwnDataTask::next(int64_t batch_size, Generator& data) {
  std::vector<int64_t> which(
      static_cast<size_t>(std::min(batch_size, example_count(Split::train))));
  if (!dry_run()) {
    epochs_.next(which, data);
    for (int64_t& number : which) {
      number = number_of(Split::train, number);
    }
  }
  return batch_of(which);
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
    lines.emplace_back("example", in_one_line(*this, Split::train, i));
  }
  return lines;
}

std::vector<std::string> OwnDataTask::warnings() const {
  std::vector<std::string> lines = warnings_;
  if (validation_rows_seen_ > 0) {
    lines.push_back(text(validation_rows_seen_, " examples of ", paths_[1].filename().string(),
                         " are in ", paths_[0].filename().string(),
                         " too: the validation loss is lower than that of new examples"));
  }
  return lines;
}

int64_t room_for(int64_t length, int64_t longest) {
  constexpr int64_t unit = 8, lengths = 4;
  const int64_t step = unit * (longest / (unit * lengths) + 1);
  return dry_run() ? longest : std::min(longest, (length / step + 1) * step - 1);
}

std::string in_one_line(const ReadableExamples& examples, Split split, int64_t example) {
  return text('"', printable(examples.input_text(split, example), 60), "\" -> \"",
              printable(examples.target_text(split, example), 60), '"');
}

}  // namespace heed
