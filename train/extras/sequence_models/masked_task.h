// Masked language modelling: a text with gaps, to be filled in from both sides. Devlin et al. 2018,
// "BERT", section 3.1, task 1.
//
// Of each window of T tokens, a share of them is chosen (mask_fraction, 15%), at least one and the
// same number in every window. A chosen token is replaced
//   with probability 0.8   by [MASK], a token of its own behind those of the tokenizer
//   with probability 0.1   by a token drawn at random
//   else                   by itself
// and is the target at its place. All other places have no target. The windows are those of the
// task `text`. The random numbers of training come from the data stream; those of a fixed example
// follow from the seed and its number, so evaluations are always over the same gaps.
#pragma once

#include "train/data/text_task.h"
#include "train/tokenizers/marked_tokenizer.h"

namespace heed {

class MaskedTask final : public Task {
 public:
  static constexpr const char* help = "masked tokens of a text file, as BERT is trained";

  struct Config {
    TextTask::Config text;
    double mask_fraction = 0.15;
    void fields(Fields& f);
    void check(ConfigErrors& errors, const ConfigNode& at) const { text.check(errors, at); }
  };

  // Throws what TextTask does.
  MaskedTask(const Config& c, const TaskSetup& setup);

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override {
    return {{"vocab_size", tokenizer_.vocab_size()}};
  }
  std::string description() const override;

  // A prompt is a text with [MASK] in it; the answer is the text with the likeliest token in each
  // gap. The gaps are filled in together, so one knows nothing of the others.
  const Tokenizer* tokenizer() const override { return &tokenizer_; }
  bool continues_prompt() const override { return false; }

  static constexpr const char* mask_word = "[MASK]";

 protected:
  std::vector<int32_t> question_of(const std::string& prompt) const override;
  Answer reply(Module& model, const std::vector<int32_t>& asked,
               const AnswerOptions& options) const override;

 private:
  const double mask_fraction_;
  const int64_t context_length_;
  const std::shared_ptr<TextTask> text_;
  const MarkedTokenizer tokenizer_;
};
HEED_TASK(MaskedTask, "masked");

}  // namespace heed
