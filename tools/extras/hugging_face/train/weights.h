// Training that starts from a Hugging Face folder.
#pragma once

#include "tools/extras/fine_tuning/train/foreign.h"

namespace heed {

class HuggingFaceWeights final : public ForeignWeights {
 public:
  static constexpr const char* help = "a folder of Hugging Face's transformers";
  using Config = NoFields;

  explicit HuggingFaceWeights(const Config&) {}

  bool has_made(const std::filesystem::path& folder) const override;
  std::filesystem::path weights_file(const std::filesystem::path& folder) const override;
  Fingerprint fingerprint(const std::filesystem::path& file) const override;
  // Only a gpt can take them.
  void load(Module& model, const std::filesystem::path& file,
            const std::function<bool(const std::string&)>& is_ignored) const override;
  ConfigNode model(const std::filesystem::path& file) const override;
  // As heed import takes it.
  std::unique_ptr<Tokenizer> tokenizer(const std::filesystem::path& folder) const override;
};
HEED_WEIGHTS(HuggingFaceWeights, "hugging_face");

}  // namespace heed
