#include "tools/extras/fine_tuning/train/lines_task.h"

#include <algorithm>
#include <iterator>

#include "autograd/base/rethrow.h"
#include "layers/text/display.h"
#include "tools/extras/fine_tuning/train/written.h"
#include "train/data/text_stream.h"
#include "train/tokenizers/vocabulary.h"

namespace heed {

namespace {

// The id of a mark that a vocabulary has: a text of one token, or the name of a special token,
// which no text becomes.
int32_t id_of_mark(const Tokenizer& tokenizer, const std::string& mark) {
  std::vector<int32_t> ids;
  const auto wrong = error_of<ConfigError>([&] { ids = tokenizer.encode(mark); });
  if (ids.size() == 1) {
    return ids[0];
  }
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    if (tokenizer.name(id) == mark) {
      return id;
    }
  }
  throw TaskError("mark", wrong ? *wrong
                                : text("expected a text that is one ", tokenizer.unit(), ", got ",
                                       printable(mark), ", which has ", ids.size()));
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

LinesTask::LinesTask(const Config& c, const TaskSetup& setup) : OwnDataTask(c.file) {
  using Marks = std::vector<std::string>;
  const SplitRows rows(c.file, setup, c.columns());
  tokenizer_ =
      std::make_unique<MarkedTokenizer>(make_tokenizer(setup, rows.cells(0), stored_vocabulary),
                                        c.mark.empty() ? Marks{"<start>", "<end>"} : Marks{});
  start_ = c.mark.empty() ? tokenizer_->mark(0) : id_of_mark(*tokenizer_, c.mark);
  end_ = c.mark.empty() ? tokenizer_->mark(1) : start_;
  mark_ = c.mark;
  take(rows, std::make_unique<OwnExamples>(*this, rows, c.file, tokenizer_->mark(0), setup,
                                           PairSizes{setup.context_length - 1}));
  may_be_longer_ = true;  // its answers too
}

OwnExample LinesTask::example(const TextRow& row) const {
  std::vector<int32_t> document = tokens_of(*tokenizer_, row.cells[0]);
  require<ConfigError>(std::count(document.begin(), document.end(), end_) == 0,
                       "expected a document without data.mark ", printable(mark_),
                       ", which would end it, got one with it");
  const int64_t count = std::ssize(document) + 1;  // <end>
  return {std::move(document), {}, count};
}

std::vector<std::pair<std::string, int64_t>> LinesTask::model_sizes() const {
  return {{"vocab_size", tokenizer_->vocab_size()},
          {"context_length", 1 + max_length().value_or(examples().longest().source)}};
}

Batch LinesTask::blank(int64_t count, const PairSizes& room) const {
  const Shape shape{count, room.source + 1};
  return {Input(Ids::full(shape, end_), Mask::zeros(shape)), Ids::full(shape, ignored_target)};
}

void LinesTask::fill(Batch& batch, int64_t i, std::span<const int32_t> document,
                     std::span<const int32_t>) const {
  const int64_t begin = i * batch.targets.dim(1);
  int32_t* const ids = batch.input.ids.mutable_data() + begin;
  std::fill_n(batch.input.mask.mutable_data() + begin, document.size() + 1, uint8_t{1});
  *ids = start_;
  std::copy(document.begin(), document.end(), ids + 1);
  *std::copy(document.begin(), document.end(), batch.targets.mutable_data() + begin) = end_;
}

std::vector<std::pair<std::string, std::string>> LinesTask::details() const {
  constexpr int64_t most = 3;
  std::vector<std::pair<std::string, std::string>> lines;
  for (int64_t i = 0; i < std::min(most, examples().example_count(Split::train)); ++i) {
    const std::string document = characters(*tokenizer_, examples().input(Split::train, i));
    lines.emplace_back("document", text('"', printable(document, 60), '"'));
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

std::vector<int32_t> LinesTask::question_of(const std::string& prompt) const {
  std::vector<int32_t> begun;
  if (const auto wrong = error_of<ConfigError>([&] { begun = tokenizer_->encode(prompt); })) {
    const char* const hint = "; an empty prompt, \"\", begins a document";
    fail<ConfigError>(*wrong, prompt == "\n" ? hint : "");
  }
  return begun;
}

Answer LinesTask::answer(Module& model, const std::string& prompt,
                         const AnswerOptions& options) const {
  return go_on(model, question_of(prompt), options, prompt);
}

Answer LinesTask::go_on(Module& model, std::vector<int32_t> begun, const AnswerOptions& options,
                        const std::string& text) const {
  begun.insert(begun.begin(), start_);
  const Written written = write_until(model, *tokenizer_, begun, end_, options, text);
  const int64_t shown = std::min(std::ssize(begun), options.context_length);
  const std::span<const int32_t> last(begun.end() - shown, begun.end());
  return {written.text, Ids::from({1, shown}, last)};
}

std::vector<int32_t> LinesTask::half(Split split, int64_t example, bool first) const {
  const std::vector<int32_t> ids = examples().input(split, example);
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
  const AnswerOptions options{.tokens = examples().longest().source,
                              .sampling = {.temperature = 0},
                              .context_length = examples().longest().source + 1};
  return go_on(model, half(split, example, true), options, "").text;
}

}  // namespace heed
