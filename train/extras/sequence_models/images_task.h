// The class of a picture, from a safetensors file or from files of IDX, as MNIST's (pictures.h).
//   x (B, channels, height, width);  targets (B)
#pragma once

#include "train/data/task.h"
#include "train/extras/sequence_models/pictures.h"

namespace heed {

class ImagesTask final : public Task {
 public:
  static constexpr const char* help = "the class of a picture: safetensors, or IDX as MNIST's";

  struct Config {
    std::string path, validation;
    double train_fraction = 0.9;
    bool shuffle = true;
    std::vector<std::string> classes;
    std::string fingerprint, validation_fingerprint;
    void fields(Fields& f);
  };

  // Throws what Pictures does; TaskError for a part without pictures, pictures to validate with of
  // another size, and a label without a name in `classes`.
  ImagesTask(const Config& c, const TaskSetup& setup);

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override;
  std::string description() const override;
  bool continues_prompt() const override { return false; }

 private:
  void read(const Config& c, const TaskSetup& setup);
  void warn(int64_t count);
  Batch batch_of(Split split, const std::vector<int64_t>& which) const;

  Shape shape_;                         // (1, C, H, W), of a picture
  std::optional<Pictures> pictures_;    // none: without the file
  std::optional<Pictures> validation_;  // the pictures to validate with, if in a file of their own
};
HEED_TASK(ImagesTask, "images");

}  // namespace heed
