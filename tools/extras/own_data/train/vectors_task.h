// Vectors as data: numbers in, numbers or classes out, for layers that take no ids. They are the
// tensors of a safetensors file, with N examples:
//   x   (N, T, d)              what the model is given
//   y   (N, T, k) or (N, k)    numbers: what it should give. The loss is mse, as F.mse_loss: the
//                              mean of (output - y)^2 over all numbers
//       (N, T) or (N)          whole numbers: a class, for outputs (N, T, classes) or (N, classes).
//                              The loss is cross entropy; -100 marks places that do not count
// Numbers may be F64, F32, F16 or BF16, whole numbers I64, I32 or U8. The first train_fraction of
// the examples is for training, the rest for validation. At 1 nothing is held out, and evaluations
// are over the examples of training.
#pragma once

#include "train/data/task.h"

namespace heed {

class VectorsTask final : public Task {
 public:
  static constexpr const char* help =
      "tensors x and y of a safetensors file, for models of vectors";

  struct Config {
    std::string path;
    double train_fraction = 1;
    bool shuffle = true;
    std::optional<int64_t> classes;
    std::string fingerprint;
    void fields(Fields& f);
  };

  // Throws IoError, naming the file and the shapes, if x or y is missing, has another shape or type
  // than above, holds a number that is not finite or a class out of range, or if the file has
  // another fingerprint; TaskError if it is too large for this machine, or if train_fraction
  // leaves a part empty.
  VectorsTask(const Config& c, const TaskSetup& setup);

  // What layers call their widths: d_in = d; d_out = k or the number of classes; d_model, if these
  // are the same. context_length = T.
  ModelSizes model_sizes() const override;
  int64_t output_size() const override { return classes_; }
  // Without the file, in the dry run of a plan: of any output.
  BatchLoss loss(const Tensor& output, const Batch& batch) const override;
  std::string description() const override;
  bool continues_prompt() const override { return false; }

 private:
  const std::filesystem::path path_;
  Array x_;              // (N, T, d)
  Array numbers_;        // y (N, T, k) or (N, k); or none
  Ids labels_;           // y (N, T) or (N); or none
  int64_t classes_ = 0;  // of labels_
};
HEED_TASK(VectorsTask, "vectors");

}  // namespace heed
