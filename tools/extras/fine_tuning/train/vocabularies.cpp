#include "tools/extras/fine_tuning/train/vocabularies.h"

#include <algorithm>

#include "layers/text/display.h"
#include "tools/extras/fine_tuning/train/foreign.h"
#include "tools/extras/fine_tuning/train/freeze.h"
#include "tools/extras/own_data/train/row_mistakes.h"
#include "train/files/files.h"
#include "train/tokenizers/vocabulary.h"
#include "train/yaml/yaml.h"

namespace heed {

namespace fs = std::filesystem;

std::unique_ptr<Tokenizer> tokenizer_of_weights(const fs::path& file) {
  const fs::path folder = file.parent_path();
  if (const auto foreign = maker_of(folder)) {
    return foreign->tokenizer(folder);
  }
  ConfigNode chosen = read_config((folder / "config.yaml").string()).get("data").get("tokenizer");
  if (chosen.is_absent()) {
    return nullptr;
  }
  const std::string type = chosen.is_map() ? chosen.get("type").text() : chosen.text();
  chosen = chosen.is_map() ? chosen : ConfigNode::map();
  chosen.erase("type");
  auto made = tokenizer_registry().make(
      type, chosen, {folder, folder, {}, read_vocabulary(folder, stored_vocabulary)});
  require<IoError>(made->vocab_size() > 0, (folder / stored_vocabulary).string(), ": is missing");
  return made;
}

std::string other_tokenizer(const Tokenizer& theirs, const Tokenizer& ours) {
  const std::string other =
      "the weights were trained with another tokenizer: its ids do not mean the same";
  const std::string before = theirs.stored(), now = ours.stored();
  if (before == now && theirs.vocabulary() == ours.vocabulary()) {
    return "";
  }
  for (int32_t id = 0; id < std::min(theirs.vocab_size(), ours.vocab_size()); ++id) {
    if (theirs.decode({&id, 1}) != ours.decode({&id, 1})) {
      return text(other, "; ", id, " is ", theirs.name(id), ", in this run ", ours.name(id));
    }
  }
  return before.empty() || now.empty() ? "" : other;  // it merges the same tokens otherwise
}

std::string other_classes(const fs::path& folder, const std::string& classes,
                          const std::vector<std::string>& ignored) {
  const std::string before = read_vocabulary(folder, stored_classes);
  if (before.empty() || classes.empty() || before == classes ||
      matches_any(ignored, "out_head.weight")) {
    return "";
  }
  const auto names = [](const std::string& json) {
    return printable(listed(vocabulary_from_json(json, "classes")), 200);
  };
  return text("the weights were trained with the classes ", names(before), ", this run has ",
              names(classes), ": each starts from the row of out_head ",
              "that another one had; data.classes gives their order, weights_ignore: [out_head.*] ",
              "new rows");
}

}  // namespace heed
