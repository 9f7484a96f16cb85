// A user's own documents, each with a beginning and an end: names, jokes, stories.
//   {type: lines, path: names.txt}                   a document a line
//   {type: lines, path: stories.jsonl, text: story}  the value of a key, an object a line
// A batch, as long as its longest document:
//   ids (B, T)       <start> and the document, then padding
//   targets (B, T)   the document and <end>, then ignored_target
// Padding comes after the document: no token that counts attends to it in a causal model.
#pragma once

#include "tools/extras/own_data/train/own_data_task.h"

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
    std::vector<RowColumn> columns() const {
      return {RowColumn{"document", text.empty() ? "text" : text}};
    }
  };

  // Throws what SplitRows and OwnExamples do, and TaskError for a mark that is no token. A
  // document with the mark in it is a RowError.
  LinesTask(const Config& c, const TaskSetup& setup);

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override;
  std::vector<std::pair<std::string, std::string>> details() const override;
  // Of the documents: the loss of their ends is spread over them.
  int64_t target_bytes(const Batch& batch) const override;
  bool continues_prompt() const override { return true; }
  std::optional<int32_t> start_token() const override { return start_; }
  std::optional<int32_t> end_token() const override { return end_; }
  // Goes on from <start> and the prompt until <end>.
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override;

  // An example is read as a question: how the first half of a document goes on.
  std::string input_text(Split split, int64_t example) const override;
  std::string target_text(Split split, int64_t example) const override;
  std::string answer(Module& model, Split split, int64_t example) const override;

  // ExampleMaker
  OwnExample example(const TextRow& row) const override;
  Batch blank(int64_t count, const PairSizes& room) const override;
  void fill(Batch& batch, int64_t i, std::span<const int32_t> document,
            std::span<const int32_t> none) const override;

 protected:
  // The beginning of a document, or nothing.
  std::vector<int32_t> question_of(const std::string& prompt) const override;

 private:
  // What the model writes after <start> and the tokens `begun` of `text`.
  Answer go_on(Module& model, std::vector<int32_t> begun, const AnswerOptions& options,
               const std::string& text) const;
  std::vector<int32_t> half(Split split, int64_t example, bool first) const;

  int32_t start_ = 0, end_ = 0;
  std::string mark_;  // that the config gives
};
HEED_TASK(LinesTask, "lines");

}  // namespace heed
