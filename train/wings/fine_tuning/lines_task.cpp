#include "train/wings/fine_tuning/lines_task.h"

#include <algorithm>
#include <iterator>

#include "autograd/base/modes.h"
#include "train/data/text_stream.h"
#include "train/files/words.h"
#include "train/tokenizers/vocabulary.h"

namespace heed {

namespace {

// The id of a mark that a vocabulary has: a text of one token, or the name of a special token,
// which no text becomes.
int32_t id_of_mark(const Tokenizer& tokenizer, const std::string& mark) {
  std::string wrong;
  try {
    const std::vector<int32_t> ids = tokenizer.encode(mark);
    if (ids.size() == 1) {
      return ids[0];
    }
    wrong = text("expected a text that is one ", tokenizer.unit(), ", got ", printable(mark),
                 ", which has ", ids.size());
  } catch (const ConfigError& error) {
    wrong = error.what();
  }
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    if (tokenizer.name(id) == mark) {
      return id;
    }
  }
  throw TaskError("mark", wrong);
}

// Text in whole characters: a token may be a part of one.
std::string characters(const Tokenizer& tokenizer, std::span<const int32_t> ids) {
  TextStream stream(tokenizer);
  const std::string whole = stream.push(tokenizer.decode(ids));
  return whole + stream.finish();
}

}  // namespace

void LinesTask::Config::fields(Fields& f) {
  f.required("path", file.path,
             "*.txt, a document a line, or *.jsonl; relative to the config's folder");
  f.optional("text", text, "key of the document in the objects of a *.jsonl; by default text");
  f.optional("mark", mark,
             "a token of the vocabulary before and after each document, as \"<|endoftext|>\"; by "
             "default two new ones, <start> and <end>");
  file.more_fields(f, /*is_table=*/false);
}

void LinesTask::Config::check(ConfigErrors& errors, const ConfigNode& at) const {
  file.check(errors, at, columns());
  if (!text.empty() && in_lower_case(file.path).ends_with(".txt")) {
    errors.add_field(at, "text", "is for a file of objects, *.jsonl; each line of a *.txt is a ",
                     "document; leave it out");
  }
}

LinesTask::LinesTask(const Config& c, const TaskSetup& setup, const SplitRows& rows)
    : OwnDataTask(c.file, rows) {
  using Marks = std::vector<std::string>;
  tokenizer_ =
      std::make_unique<MarkedTokenizer>(make_tokenizer(setup, rows.cells(0), stored_vocabulary),
                                        c.mark.empty() ? Marks{"<start>", "<end>"} : Marks{});
  start_ = c.mark.empty() ? tokenizer_->mark(0) : id_of_mark(*tokenizer_, c.mark);
  end_ = c.mark.empty() ? tokenizer_->mark(1) : start_;
  documents_.emplace(tokenizer_->mark(0));  // new marks are not kept
  documents_->reserve(rows.size(), rows.bytes(0));
  take(rows, setup, [&](const TextRows::Row& row) -> int64_t {
    const std::vector<int32_t> ids = tokens_of(*tokenizer_, row.cells[0]);
    require<ConfigError>(std::count(ids.begin(), ids.end(), end_) == 0,
                         "expected a document without data.mark ", printable(c.mark),
                         ", which would end it, got one with it");
    if (is_too_long(ids.size())) {
      return 0;
    }
    documents_->append(ids);
    return std::ssize(ids) + 1;
  });
}

// A model may have more room than the longest document needs, as one that reads on from weights.
std::vector<std::pair<std::string, int64_t>> LinesTask::model_sizes() const {
  return {{"vocab_size", tokenizer_->vocab_size()},
          {"context_length", 1 + max_length().value_or(documents_->longest())}};
}

Batch LinesTask::batch_of(std::span<const int64_t> numbers) const {
  int64_t longest = 0;
  for (const int64_t number : numbers) {
    longest = std::max(longest, documents_->length(number));
  }
  const int64_t length = room_for(longest, documents_->longest()) + 1;
  const Shape shape{std::ssize(numbers), length};
  Batch batch{Input(Ids::full(shape, end_)), Ids::full(shape, ignored_target)};
  int32_t* ids = batch.input.ids.mutable_data();
  int32_t* targets = batch.targets.mutable_data();
  for (size_t i = 0; i < numbers.size() && !dry_run(); ++i, ids += length, targets += length) {
    const std::vector<int32_t> document = (*documents_)[numbers[i]];
    *ids = start_;
    std::copy(document.begin(), document.end(), ids + 1);
    *std::copy(document.begin(), document.end(), targets) = end_;
  }
  return batch;
}

std::string LinesTask::vocabulary_in_words() const {
  return text(grouped(tokenizer_->mark(0)), " ", tokenizer_->unit(), "s");
}

std::vector<std::pair<std::string, std::string>> LinesTask::details() const {
  constexpr int64_t most = 3;
  std::vector<std::pair<std::string, std::string>> lines;
  for (int64_t i = 0; i < std::min(most, example_count(Split::train)); ++i) {
    const std::vector<int32_t> document = (*documents_)[number_of(Split::train, i)];
    lines.emplace_back("document",
                       text('"', printable(characters(*tokenizer_, document), 60), '"'));
  }
  return lines;
}

int64_t LinesTask::target_bytes(const Batch& batch) const {
  const std::span<const int32_t> targets = batch.targets.span();
  std::vector<int32_t> written;
  std::copy_if(targets.begin(), targets.end(), std::back_inserter(written),
               [&](int32_t id) { return id != ignored_target && id != end_; });
  return tokenizer_->is_lossless() ? std::ssize(tokenizer_->decode(written)) : 0;
}

void LinesTask::check_prompt(const std::string& prompt) const {
  try {
    tokenizer_->encode(prompt);
  } catch (const ConfigError& error) {
    const char* const hint = "; an empty prompt, \"\", begins a document";
    fail<ConfigError>(error.what(), prompt == "\n" ? hint : "");
  }
}

std::vector<int32_t> LinesTask::write(Module& model, std::vector<int32_t> begun,
                                      const AnswerOptions& options,
                                      const std::function<void(int32_t)>& each) const {
  begun.insert(begun.begin(), start_);
  bool ended = false;
  const auto take = [&](int32_t id) {
    ended = id == end_;
    if (!ended && each) {
      each(id);
    }
  };
  std::vector<int32_t> written =
      generate(model, begun, options.tokens, options.sampling, options.context_length, take,
               [&] { return ended || (options.stop && options.stop()); });
  written.resize(written.size() - (ended ? 1 : 0));
  return written;
}

Answer LinesTask::answer(Module& model, const std::string& prompt,
                         const AnswerOptions& options) const {
  check_prompt(prompt);
  std::vector<int32_t> read = tokenizer_->encode(prompt);
  const int32_t last = read.empty() ? -1 : read.back();
  TextStream stream(*tokenizer_);
  stream.push(prompt, last);
  std::string said;
  const auto say = [&](const std::string& piece) {
    said += piece;
    options.say(piece);
  };
  write(model, read, options, [&](int32_t id) { say(stream.push(id)); });
  say(stream.finish());
  read.insert(read.begin(), start_);
  const size_t shown = std::min(read.size(), static_cast<size_t>(options.context_length));
  return {said, Ids::from({1, static_cast<int64_t>(shown)}, std::span(read).last(shown))};
}

std::vector<int32_t> LinesTask::half(Split split, int64_t example, bool first) const {
  const std::vector<int32_t> ids = (*documents_)[number_of(split, example)];
  const auto middle = ids.begin() + std::ssize(ids) / 2;
  return first ? std::vector<int32_t>(ids.begin(), middle)
               : std::vector<int32_t>(middle, ids.end());
}

std::string LinesTask::input_text(Split split, int64_t example) const {
  return characters(*tokenizer_, half(split, example, true));
}

std::string LinesTask::target_text(Split split, int64_t example) const {
  return characters(*tokenizer_, half(split, example, false));
}

std::string LinesTask::answer(Module& model, Split split, int64_t example) const {
  AnswerOptions options{.tokens = documents_->longest(),
                        .context_length = documents_->longest() + 1};
  options.sampling.temperature = 0;
  return characters(*tokenizer_, write(model, half(split, example, true), options));
}

}  // namespace heed
