#include "train/wings/translation/pair_task.h"

namespace heed {

PairText::PairText(std::vector<std::string> source_words, std::vector<std::string> target_words,
                   const PairSizes& longest)
    : source_(with_marks(std::move(source_words), {"<end>"})),
      target_(with_marks(std::move(target_words), {"<start>", "<end>"})),
      format_({source_.id("<end>"), target_.id("<start>"), target_.id("<end>")}, longest) {}

std::vector<std::pair<std::string, int64_t>> PairText::model_sizes() const {
  return {{"source_vocab_size", source_.vocab_size()},
          {"vocab_size", target_.vocab_size()},
          {"source_length", format_.longest().source + 1},
          {"context_length", format_.longest().target + 1}};
}

Answer PairText::answer(Module& model, const std::string& prompt,
                        const AnswerOptions& options) const {
  PairFormat::Decoded written = format_.write(model, source_.encode(prompt), options.stop);
  return {target_.decode(written.target), std::move(written.shown)};
}

}  // namespace heed
