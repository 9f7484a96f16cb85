#include "tools/extras/hugging_face/train/weights.h"

#include "autograd/base/modes.h"
#include "layers/config/values.h"
#include "layers/gpt.h"
#include "tools/extras/bpe/train/bpe_tokenizer.h"
#include "tools/extras/bpe/train/read.h"
#include "tools/extras/fine_tuning/train/source.h"
#include "tools/extras/hugging_face/train/folder.h"
#include "tools/extras/hugging_face/train/json.h"
#include "tools/extras/hugging_face/train/tokenizer_files.h"
#include "train/files/human_readable.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

ImportedModel model_in(const fs::path& folder) {
  const fs::path config = folder / "config.json";
  return model_of_json(read_json(config), config.string());
}

}  // namespace

bool HuggingFaceWeights::has_made(const fs::path& folder) const {
  return is_hugging_face_folder(folder);
}

fs::path HuggingFaceWeights::weights_file(const fs::path& folder) const {
  return heed::weights_file(folder);
}

Fingerprint HuggingFaceWeights::fingerprint(const fs::path& file) const {
  const FolderWeights headers(file);  // what has none is refused before all of it is read
  return weights_fingerprint(file);
}

void HuggingFaceWeights::load(Module& model, const fs::path& file, const IsIgnored& ignored) const {
  const Architecture& architecture = *model_in(file.parent_path()).architecture;
  auto* const gpt = dynamic_cast<Gpt*>(&model);
  require<ConfigError>(
      gpt != nullptr, file.parent_path().string(), " holds a ", architecture.model_type,
      ", which only a model of type gpt can take; heed import ",
      shell_word(file.parent_path().string()), " makes a run of it, whose weights others take");
  const std::string wrong = obstacle(architecture, *gpt);
  require<ConfigError>(wrong.empty(), "these are not the weights of this model: ", wrong);
  const FolderWeights weights(file);
  try {
    check_weights(architecture, *gpt, weights, ignored);
  } catch (const IoError& error) {
    fail<ConfigError>(not_these_weights(error));
  }
  if (!dry_run()) {
    require<ConfigError>(load_weights(architecture, *gpt, weights, ignored),
                         "these are not the weights of this model: its positions are ",
                         gpt->config.position, ", those of the file were learned");
  }
}

ConfigNode HuggingFaceWeights::model(const fs::path& file) const {
  const fs::path folder = file.parent_path();
  const ConfigNode own = own_model_of_json(read_json(folder / "config.json"));
  return own.is_absent() ? model_in(folder).model : own;
}

std::unique_ptr<Tokenizer> HuggingFaceWeights::tokenizer(const fs::path& folder) const {
  const fs::path file = find_tokenizer(folder);
  if (file.empty()) return nullptr;
  BpeModel model = read_bpe(file);
  pad_vocabulary(model, whole_number(model_in(folder).model.get("vocab_size")).value_or(0));
  return std::make_unique<BpeTokenizer>(std::move(model), file.string());
}

}  // namespace heed
