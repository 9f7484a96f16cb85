#include "train/wings/own_data/pairs_task.h"

#include <algorithm>

#include "autograd/base/modes.h"
#include "train/files/words.h"
#include "train/sequences/prompt_length.h"
#include "train/tokenizers/vocabulary.h"

namespace heed {

void PairsTask::Config::fields(Fields& f) {
  file.first_fields(f);
  f.optional("source", source,
             "column or key of what the model reads; a column's number in quotes");
  f.optional("target", target, "of what it should write");
  file.more_fields(f);
}

PairsTask::PairsTask(const Config& c, const TaskSetup& setup, const SplitRows& rows)
    : OwnDataTask(c.file, rows) {
  make_tokenizers(setup, rows);
  sources_.emplace(source_tokenizer_->mark(0));  // marks are not kept
  targets_.emplace(target_tokenizer_->mark(0));
  sources_->reserve(rows.size(), rows.bytes(0));
  targets_->reserve(rows.size(), rows.bytes(1));
  take(rows, setup, [&](const TextRows::Row& row) -> int64_t {
    const std::vector<int32_t> source = tokens_of(*source_tokenizer_, row.cells[0]),
                               target = tokens_of(*target_tokenizer_, row.cells[1]);
    if (is_too_long(source.size()) || is_too_long(target.size())) {
      return 0;
    }
    sources_->append(source);
    targets_->append(target);
    return static_cast<int64_t>(source.size() + target.size());
  });
  format_.emplace(PairFormat::Marks{source_tokenizer_->mark(0), target_tokenizer_->mark(0),
                                    target_tokenizer_->mark(1)},
                  PairSizes{sources_->longest(), targets_->longest()});
}

// A vocabulary from the data is one for each side; a tokenizer without one is the same for both.
void PairsTask::make_tokenizers(const TaskSetup& setup, const SplitRows& rows) {
  std::shared_ptr<const Tokenizer> source =
      make_tokenizer(setup, rows.cells(0), stored_source_vocabulary);
  const bool from_data = !source->vocabulary().empty();
  const std::shared_ptr<const Tokenizer> target =
      from_data ? make_tokenizer(setup, rows.cells(1), stored_vocabulary) : source;
  source_tokenizer_ =
      std::make_unique<MarkedTokenizer>(std::move(source), std::vector<std::string>{"<end>"});
  target_tokenizer_ =
      std::make_unique<MarkedTokenizer>(target, std::vector<std::string>{"<start>", "<end>"});
}

std::vector<std::pair<std::string, int64_t>> PairsTask::model_sizes() const {
  return {{"source_vocab_size", source_tokenizer_->vocab_size()},
          {"vocab_size", target_tokenizer_->vocab_size()},
          {"source_length", sources_->longest() + 1},
          {"context_length", targets_->longest() + 1}};
}

Batch PairsTask::batch_of(std::span<const int64_t> numbers) const {
  PairSizes room;
  for (const int64_t number : numbers) {
    room.source = std::max(room.source, sources_->length(number));
    room.target = std::max(room.target, targets_->length(number));
  }
  Batch batch = format_->blank(std::ssize(numbers), {room_for(room.source, sources_->longest()),
                                                     room_for(room.target, targets_->longest())});
  for (int64_t i = 0; i < std::ssize(numbers) && !dry_run(); ++i) {
    const int64_t number = numbers[static_cast<size_t>(i)];
    format_->fill(batch, i, (*sources_)[number], (*targets_)[number]);
  }
  return batch;
}

std::string PairsTask::vocabulary_in_words() const {
  return text(grouped(source_tokenizer_->mark(0)), " ", source_tokenizer_->unit(), "s to read, ",
              grouped(target_tokenizer_->mark(0)), " to write");
}

void PairsTask::check_prompt(const std::string& prompt) const {
  require_length(source_tokenizer_->encode(prompt).size(), sources_->longest(),
                 source_tokenizer_->unit());
}

Answer PairsTask::answer(Module& model, const std::string& prompt,
                         const AnswerOptions& options) const {
  check_prompt(prompt);
  PairFormat::Decoded written =
      format_->write(model, source_tokenizer_->encode(prompt), options.stop);
  Answer answer{target_tokenizer_->decode(written.target), std::move(written.shown)};
  options.say(answer.text);
  return answer;
}

std::string PairsTask::input_text(Split split, int64_t example) const {
  return source_tokenizer_->decode((*sources_)[number_of(split, example)]);
}

std::string PairsTask::target_text(Split split, int64_t example) const {
  return target_tokenizer_->decode((*targets_)[number_of(split, example)]);
}

std::string PairsTask::answer(Module& model, Split split, int64_t example) const {
  return target_tokenizer_->decode(
      format_->write(model, (*sources_)[number_of(split, example)]).target);
}

}  // namespace heed
