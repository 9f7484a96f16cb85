#include "train/weights/vocabulary_source.h"

#include "layers/text/display.h"
#include "train/files/files.h"
#include "train/tokenizers/tokenizer.h"
#include "train/tokenizers/vocabulary.h"
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

std::string other_classes(const fs::path& folder, const std::string& classes,
                          const std::vector<std::string>& ignored) {
  const std::string before = read_vocabulary(folder, stored_classes);
  if (before.empty() || classes.empty() || before == classes ||
      matches_any(ignored, "out_head.weight")) {
    return "";
  }
  std::string names[2];
  for (const int k : {0, 1}) {
    for (const auto& name : vocabulary_from_json(k == 0 ? before : classes, "classes")) {
      names[k] += (names[k].empty() ? "" : ", ") + printable(name);
    }
  }
  return text("the weights were trained with the classes ", printable(names[0], 200),
              ", this run has ", printable(names[1], 200),
              ": each starts from the row of out_head ",
              "that another one had; data.classes gives their order, weights_ignore: [out_head.*] ",
              "new rows");
}

}  // namespace heed
