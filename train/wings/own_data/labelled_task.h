// A user's own texts with a class each.
//   {type: labelled, path: x.csv, text: review, label: sentiment}
// Batches are those of train/sequences/label_format.h, padded to their longest sequence.
#pragma once

#include "train/sequences/label_format.h"
#include "train/wings/own_data/marked_tokenizer.h"
#include "train/wings/own_data/own_data_task.h"
#include "train/wings/own_data/token_lists.h"

namespace heed {

class LabelledTask final : public OwnDataTask {
 public:
  static constexpr const char* help = "the class of a text, from a file of yours";

  struct Config {
    OwnDataConfig file;
    std::string text, label;
    std::vector<std::string> classes;
    bool class_token = true;
    void fields(Fields& f);
    void check(ConfigErrors& errors, const ConfigNode& at) const;
    std::array<RowColumn, 2> columns() const {
      return {RowColumn{"text", text}, RowColumn{"label", label, true}};
    }
  };

  // Throws what SplitRows and OwnDataTask::take do. A label that is not one of the classes, and a
  // file with a single class, are RowErrors.
  LabelledTask(const Config& c, const TaskSetup& setup)
      : LabelledTask(c, setup, SplitRows(c.file, setup, c.columns())) {}

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override;
  const Tokenizer* tokenizer() const override { return tokenizer_.get(); }
  std::string classes() const override;
  std::string target_name(int32_t label) const override {
    return classes_.at(static_cast<size_t>(label));
  }
  std::vector<std::pair<std::string, std::string>> details() const override;
  std::vector<std::string> warnings() const override;
  void score(const Array& output, const Batch& batch, Score& score) const override;
  void check_prompt(const std::string& prompt) const override;
  // The most likely class and its probability: "positive 99.8%".
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override;

  std::string input_text(Split split, int64_t example) const override;
  std::string target_text(Split split, int64_t example) const override;
  std::string answer(Module& model, Split split, int64_t example) const override;

 protected:
  Batch batch_of(std::span<const int64_t> numbers) const override;
  std::string vocabulary_in_words() const override;

 private:
  LabelledTask(const Config& c, const TaskSetup& setup, const SplitRows& rows);
  int32_t label_of(const TextRows::Row& row) const;
  std::vector<int64_t> class_counts(Split split) const;
  int64_t context_length() const;
  int64_t marks() const { return tokenizer_->vocab_size() - tokenizer_->mark(0); }  // of a text

  std::vector<std::string> classes_;
  const std::string alike_;  // those that may be one, if they are the labels of the file
  std::unique_ptr<const MarkedTokenizer> tokenizer_;
  std::optional<TokenLists> texts_;
  std::vector<int32_t> labels_;
  std::optional<LabelFormat> format_;
};
HEED_TASK(LabelledTask, "labelled");

}  // namespace heed
