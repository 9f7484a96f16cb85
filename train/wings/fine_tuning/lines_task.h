// A user's own documents, each with a beginning and an end: names, jokes, stories.
//   {type: lines, path: names.txt}                   a document a line
//   {type: lines, path: stories.jsonl, text: story}  the value of a key, an object a line
// A batch, as long as its longest document:
//   ids (B, T)       <start> and the document, then padding
//   targets (B, T)   the document and <end>, then ignored_target
// Padding comes after the document: no token that counts attends to it in a causal model.
#pragma once

#include "train/wings/own_data/marked_tokenizer.h"
#include "train/wings/own_data/own_data_task.h"
#include "train/wings/own_data/token_lists.h"

namespace heed {

class LinesTask final : public OwnDataTask {
 public:
  static constexpr const char* help = "documents with a beginning and an end, from a file of yours";

  struct Config {
    Config() { file.tokenizer = Choice{"char"}; }
    OwnDataConfig file;
    std::string text, mark;
    void fields(Fields& f);
    void check(ConfigErrors& errors, const ConfigNode& at) const;
    // A single one.
    std::array<RowColumn, 2> columns() const {
      return {RowColumn{"document", text.empty() ? "text" : text}, RowColumn{}};
    }
  };

  // Throws what SplitRows and OwnDataTask::take do, and TaskError for a mark that is no token. A
  // document with the mark in it is a RowError.
  LinesTask(const Config& c, const TaskSetup& setup)
      : LinesTask(c, setup, SplitRows(c.file, setup, c.columns())) {}

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override;
  const Tokenizer* tokenizer() const override { return tokenizer_.get(); }
  std::vector<std::pair<std::string, std::string>> details() const override;
  // Of the documents: the loss of their ends is spread over them.
  int64_t target_bytes(const Batch& batch) const override;
  // The beginning of a document, or nothing.
  void check_prompt(const std::string& prompt) const override;
  bool continues_prompt() const override { return true; }
  // Goes on from <start> and the prompt until <end>.
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override;

  // An example is read as a question: how the first half of a document goes on.
  std::string input_text(Split split, int64_t example) const override;
  std::string target_text(Split split, int64_t example) const override;
  std::string answer(Module& model, Split split, int64_t example) const override;

 protected:
  Batch batch_of(std::span<const int64_t> numbers) const override;
  std::string vocabulary_in_words() const override;

 private:
  LinesTask(const Config& c, const TaskSetup& setup, const SplitRows& rows);
  // What the model writes after <start> and `begun`, without <end>. each(id) is called for every
  // token of it.
  std::vector<int32_t> write(Module& model, std::vector<int32_t> begun,
                             const AnswerOptions& options,
                             const std::function<void(int32_t)>& each = {}) const;
  std::vector<int32_t> half(Split split, int64_t example, bool first) const;

  std::unique_ptr<const MarkedTokenizer> tokenizer_;
  int32_t start_ = 0, end_ = 0;
  std::optional<TokenLists> documents_;
};
HEED_TASK(LinesTask, "lines");

}  // namespace heed
