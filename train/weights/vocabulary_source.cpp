#include "train/weights/vocabulary_source.h"

#include "train/files/files.h"
#include "train/tokenizers/tokenizer.h"
#include "train/weights/freeze.h"
#include "train/weights/source.h"

namespace heed {

namespace fs = std::filesystem;

fs::path vocabulary_source(const fs::path& source, const std::vector<std::string>& ignored) {
  if (matches_any(ignored, "tok_emb.weight") || matches_any(ignored, "source_emb.weight")) {
    return {};
  }
  try {
    std::vector<std::string> warnings;
    return find_weights(source, warnings).parent_path();
  } catch (const IoError&) {
    return {};  // reported where the weights are opened
  }
}

std::string other_tokenizer(const fs::path& folder, const std::string& stored) {
  const fs::path kept = folder / stored_tokenizer;
  const bool both = !stored.empty() && is_there(kept);
  return both && fingerprint_file(kept) != fingerprint(as_bytes(stored))
             ? "the weights were trained with another tokenizer: its ids do not mean the same"
             : "";
}

}  // namespace heed
