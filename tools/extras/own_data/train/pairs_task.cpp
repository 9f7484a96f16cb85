#include "tools/extras/own_data/train/pairs_task.h"

#include <algorithm>

#include "train/tokenizers/vocabulary.h"

namespace heed {

void PairsTask::Config::fields(Fields& f) {
  file.first_fields(f);
  f.optional("source", source,
             "column or key of what the model reads; a column's number in quotes");
  f.optional("target", target, "of what it should write");
  file.more_fields(f);
}

// A vocabulary from the data is one for each side; a tokenizer without one is the same for both.
PairsTask::PairsTask(const Config& c, const TaskSetup& setup) : OwnDataTask(c.file) {
  using Marks = std::vector<std::string>;
  const SplitRows rows(c.file, setup, c.columns());
  const auto source = make_tokenizer(setup, rows.cells(0), stored_source_vocabulary);
  const auto target = source->vocabulary().empty()
                          ? source
                          : make_tokenizer(setup, rows.cells(1), stored_vocabulary);
  source_tokenizer_ = std::make_unique<MarkedTokenizer>(source, Marks{"<end>"});
  tokenizer_ = std::make_unique<MarkedTokenizer>(target, Marks{"<start>", "<end>"});
  const int64_t ids = std::max(source_tokenizer_->mark(0), tokenizer_->mark(0));
  const PairSizes room{setup.source_length - 1, setup.context_length - 1};
  take(rows, std::make_unique<OwnExamples>(*this, rows, c.file, ids, setup, room));
  format_.emplace(
      PairFormat::Marks{source_tokenizer_->mark(0), tokenizer_->mark(0), tokenizer_->mark(1)},
      examples().longest());
}

OwnExample PairsTask::example(const TextRow& row) const {
  OwnExample pair{tokens_of(*source_tokenizer_, row.cells[0]),
                  tokens_of(*tokenizer_, row.cells[1])};
  pair.tokens = std::ssize(pair.input) + std::ssize(pair.target);
  return pair;
}

ModelSizes PairsTask::model_sizes() const {
  return {{"source_vocab_size", source_tokenizer_->vocab_size()},
          {"vocab_size", tokenizer_->vocab_size()},
          {"source_length", examples().longest().source + 1},
          {"context_length", examples().longest().target + 1}};
}

Answer PairsTask::reply(Module& model, const std::vector<int32_t>& source,
                        const AnswerOptions& options) const {
  PairFormat::Decoded written = format_->write(model, source, options.stop);
  return {tokenizer_->decode(written.target), std::move(written.shown)};
}

}  // namespace heed
