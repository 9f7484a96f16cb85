#include "train/config/resolve.h"

#include "train/config/paths.h"
#include "train/config/plugin_host.h"
#include "train/files/files.h"
#include "train/tokenizers/vocabulary.h"
#include "train/weights/foreign.h"
#include "train/weights/freeze.h"
#include "train/weights/source.h"
#include "train/weights/vocabulary_source.h"
#include "train/yaml/yaml.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

void resolve_path(ConfigNode& part, const fs::path& folder, const char* key, const char* name) {
  if (part.has(key) && !part.get(key).text().empty()) {
    const fs::path path = folder / part.get(key).text();
    const std::string absolute = fs::absolute(path).lexically_normal().string();
    require_utf8_path(name, absolute);
    part.set(key, absolute);
  }
}

}  // namespace

void resolve_data(ConfigNode& data, const fs::path& folder, const Task& dataset) {
  resolve_path(data, folder, "path", "data.path");
  resolve_path(data, folder, "validation", "data.validation");
  ConfigNode* const tokenizer = data.find("tokenizer");
  if (tokenizer != nullptr && tokenizer->has("fingerprint")) {
    resolve_path(*tokenizer, folder, "path", "data.tokenizer.path");
    tokenizer->set("fingerprint", fingerprint(as_bytes(dataset.tokenizer()->stored())).text());
  }
  std::string key = "fingerprint";
  for (const fs::path& file : dataset.files()) {
    if (data.has(key)) {
      data.set(key, fingerprint_file(file).text());
    }
    key = "validation_fingerprint";
  }
}

void resolve_weights(LoadedRun& run, const fs::path& folder, bool begins) {
  TrainConfig& train = run.config.train;
  if (train.weights.empty()) {
    return;
  }
  train.weights = fs::absolute(folder / train.weights).lexically_normal().string();
  require_utf8_path("train.weights", train.weights);
  if (begins) {
    run.weights = find_weights(train.weights, run.warnings);
    const std::string found = source_fingerprint(run.weights).text();
    require<IoError>(train.weights_fingerprint.empty() || train.weights_fingerprint == found,
                     run.weights.string(), ": changed: expected fingerprint ",
                     train.weights_fingerprint, ", got ", found);
    train.weights_fingerprint = found;
  }
}

namespace {

// A warning if the ids of the weights, trained on data of this type, mean something else or may.
std::string other_ids(const LoadedRun& run, const std::string& type_before) {
  const Tokenizer* const ours = run.task->tokenizer();
  try {
    const std::unique_ptr<Tokenizer> theirs = tokenizer_of_weights(run.weights);
    if (theirs != nullptr && ours != nullptr) {
      return other_tokenizer(*theirs, *ours);
    }
    return (theirs == nullptr) == (ours == nullptr) || type_before == run.config.data.type()
               ? ""
               : text("the weights were trained ", theirs ? "with" : "without", " a tokenizer, ",
                      "this run has ", ours != nullptr ? "one" : "none",
                      ": nothing tells whether the ids mean the same");
  } catch (const Error& error) {
    const std::string what = error.what();
    return "the tokenizer is not compared with that of the weights: " +
           what.substr(0, what.find('\n'));
  }
}

}  // namespace

void compare_tokenizers(LoadedRun& run) {
  const fs::path folder = run.weights.parent_path(), config = folder / "config.yaml";
  const bool foreign = !run.weights.empty() && maker_of(folder) != nullptr;
  if (run.weights.empty() || (!foreign && !is_there(config))) {
    return;
  }
  const ConfigNode before = foreign ? ConfigNode() : read_config(config.string()).get("data"),
                   now = run.resolved.get("data");
  const std::vector<std::string>& ignored = run.config.train.weights_ignore;
  if (!matches_any(ignored, "tok_emb.weight") || !matches_any(ignored, "out_head.weight")) {
    run.warnings.push_back(other_ids(run, before.get("type").text()));
  }
  run.warnings.push_back(other_classes(folder, run.task->classes(), ignored));
  std::erase(run.warnings, "");
  if (now.get("tokenizer").text() == "char" && before.get("tokenizer").text() == "char" &&
      before.get("fingerprint").text() != now.get("fingerprint").text() &&
      !is_there(folder / stored_vocabulary)) {
    run.warnings.push_back("the weights were trained on " + before.get("path").text() +
                           ", another text: unless both have the same characters, the ids of "
                           "tokenizer char do not mean the same");
  }
}

void resolve_plugins(ConfigNode& config, const fs::path& folder) {
  const std::vector<std::string> needed = plugin_host().needed_by(config, folder);
  for (const std::string& plugin : needed) {
    require_utf8_path("plugins", plugin);
  }
  if (needed.empty()) {
    config.erase("plugins");
  } else {
    config.set("plugins", ConfigNode::list({needed.begin(), needed.end()}));
  }
}

}  // namespace heed
