// A user's own pairs of texts: what a model reads, and what it should write.
//   {type: pairs, path: x.tsv, source: German, target: English}
// Batches are those of train/sequences/pair_format.h, padded to their longest sequence.
#pragma once

#include "train/sequences/pair_format.h"
#include "train/wings/own_data/marked_tokenizer.h"
#include "train/wings/own_data/own_data_task.h"
#include "train/wings/own_data/token_lists.h"

namespace heed {

class PairsTask final : public OwnDataTask {
 public:
  static constexpr const char* help = "pairs of texts from a file of yours, one into the other";

  struct Config {
    OwnDataConfig file;
    std::string source, target;
    void fields(Fields& f);
    void check(ConfigErrors& errors, const ConfigNode& at) const {
      file.check(errors, at, columns());
    }
    std::array<RowColumn, 2> columns() const {
      return {RowColumn{"source", source}, RowColumn{"target", target}};
    }
  };

  // Throws what SplitRows and OwnDataTask::take do.
  PairsTask(const Config& c, const TaskSetup& setup)
      : PairsTask(c, setup, SplitRows(c.file, setup, c.columns())) {}

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override;
  const Tokenizer* tokenizer() const override { return target_tokenizer_.get(); }
  const Tokenizer* source_tokenizer() const override { return source_tokenizer_.get(); }
  void check_prompt(const std::string& prompt) const override;
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override;

  std::string input_text(Split split, int64_t example) const override;
  std::string target_text(Split split, int64_t example) const override;
  std::string answer(Module& model, Split split, int64_t example) const override;

 protected:
  Batch batch_of(std::span<const int64_t> numbers) const override;
  std::string vocabulary_in_words() const override;

 private:
  PairsTask(const Config& c, const TaskSetup& setup, const SplitRows& rows);
  void make_tokenizers(const TaskSetup& setup, const SplitRows& rows);

  std::unique_ptr<const MarkedTokenizer> source_tokenizer_, target_tokenizer_;
  std::optional<TokenLists> sources_, targets_;
  std::optional<PairFormat> format_;
};
HEED_TASK(PairsTask, "pairs");

}  // namespace heed
