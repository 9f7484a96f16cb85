// A user's own pairs of texts: what a model reads, and what it should write.
//   {type: pairs, path: x.tsv, source: German, target: English}
// Batches are those of train/data/pair_format.h, padded to their longest sequence.
#pragma once

#include "tools/extras/own_data/train/own_data_task.h"
#include "train/data/pair_format.h"

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
    std::vector<RowColumn> columns() const {
      return {RowColumn{"source", source}, RowColumn{"target", target}};
    }
  };

  // Throws what SplitRows and OwnExamples do.
  PairsTask(const Config& c, const TaskSetup& setup);

  ModelSizes model_sizes() const override;

  // ExampleMaker
  OwnExample example(const TextRow& row) const override;
  Batch blank(int64_t count, const PairSizes& room) const override {
    return format_->blank(count, room);
  }
  void fill(Batch& batch, int64_t i, std::span<const int32_t> source,
            std::span<const int32_t> target) const override {
    format_->fill(batch, i, source, target);
  }

 protected:
  Answer reply(Module& model, const std::vector<int32_t>& source,
               const AnswerOptions& options) const override;

 private:
  std::optional<PairFormat> format_;
};
HEED_TASK(PairsTask, "pairs");

}  // namespace heed
