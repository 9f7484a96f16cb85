// A user's own texts with a class each.
//   {type: labelled, path: x.csv, text: review, label: sentiment}
// Batches are those of train/data/label_format.h, padded to their longest sequence.
#pragma once

#include "tools/extras/own_data/train/own_data_task.h"
#include "train/data/label_format.h"

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
    std::vector<RowColumn> columns() const {
      return {RowColumn{"text", text}, RowColumn{"label", label, true}};
    }
  };

  // Throws what SplitRows and OwnExamples do. A label that is not one of the classes, and a
  // file with a single class, are RowErrors.
  LabelledTask(const Config& c, const TaskSetup& setup);

  ModelSizes model_sizes() const override;
  std::vector<std::pair<std::string, std::string>> details() const override;
  std::string target_text(Split split, int64_t example) const override;

  // ExampleMaker
  OwnExample example(const TextRow& row) const override;
  Batch blank(int64_t count, const PairSizes& room) const override {
    return format_->blank(count, room.source);
  }
  void fill(Batch& batch, int64_t i, std::span<const int32_t> words,
            std::span<const int32_t> label) const override {
    format_->fill(batch, i, words, label[0]);
  }

 protected:
  // The most likely class and its probability: "positive 99.8%".
  Answer reply(Module& model, const std::vector<int32_t>& words,
               const AnswerOptions& options) const override;

 private:
  int32_t label_of(Split split, int64_t example) const {
    return examples().target(split, example)[0];
  }
  std::vector<int64_t> class_counts(Split split) const;
  void warn_of_empty_classes();

  std::optional<LabelFormat> format_;
};
HEED_TASK(LabelledTask, "labelled");

}  // namespace heed
