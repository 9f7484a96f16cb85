#include "tools/extras/fine_tuning/train/start.h"

#include "autograd/base/rethrow.h"
#include "tools/extras/fine_tuning/train/adapter.h"
#include "tools/extras/fine_tuning/train/foreign.h"
#include "tools/extras/fine_tuning/train/freeze.h"
#include "tools/extras/fine_tuning/train/keys.h"
#include "tools/extras/fine_tuning/train/source.h"
#include "tools/extras/fine_tuning/train/vocabularies.h"
#include "train/checkpoint/manifest.h"
#include "train/config/checks_between_sections.h"
#include "train/config/resolve.h"
#include "train/files/files.h"
#include "train/files/run_files.h"
#include "train/files/temporary.h"
#include "train/yaml/yaml.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

const FineTuningKeys& keys_of(const RunConfig& config) {
  return config.train.extra.get<FineTuningKeys>();
}

bool is_full(const RunConfig& config) {
  return config.checkpoint.extra.get<FullCheckpointKeys>().full;
}

}  // namespace

// An embedding that is drawn anew has a vocabulary of its own.
fs::path FineTuning::vocabularies(const RunConfig& config, const fs::path& folder) const {
  const FineTuningKeys& keys = keys_of(config);
  const std::vector<std::string>& ignored = keys.weights_ignore;
  if (keys.weights.empty() || matches_any(ignored, "tok_emb.weight") ||
      matches_any(ignored, "source_emb.weight")) {
    return {};
  }
  fs::path file;
  std::vector<std::string> warnings;  // reported, as mistakes are, where the weights are opened
  error_of<IoError>([&] { file = find_weights(folder / keys.weights, warnings); });
  return file.parent_path();
}

void FineTuning::check(const RunConfig& config, const ConfigNode& tree,
                       ConfigErrors& errors) const {
  const bool is_read = !errors.are_within("checkpoint") && !errors.are_within("train");
  errors.has_no_effect(tree.get("checkpoint"), "full",
                       is_read && is_full(config) && !keys_of(config).lora,
                       "without train.lora: a checkpoint has all weights then; leave it out");
}

void FineTuning::check_resumed(const ConfigNode& before, const ConfigNode& now) const {
  const std::string began = before.get("train").get("weights").text();
  const std::string given = now.get("train").get("weights").text();
  const bool is_base = now.get("train").has("lora") &&  // found by its hash, wherever it is
                       now.get("checkpoint").get("full").text() == "false";
  require<ConfigError>(is_base || given == began || given.empty(),
                       "train.weights: a resumed run continues ",
                       "with its own weights, which began ",
                       began.empty() ? "as drawn" : "at " + began, "; expected that, got ", given);
}

namespace {

constexpr const char* if_moved =
    "; --set train.weights=PATH says where they are now, heed export RUN DIR --adapter needs none";

// A base that was trained further may still have the checkpoint with the recorded hash.
fs::path with_hash(const fs::path& base, const std::string& hash) {
  std::error_code none;
  for (const auto& each : fs::directory_iterator(base / run_checkpoints, none)) {
    bool same = false;
    error_of<IoError>([&] { same = read_manifest(each).files[stored_model].text() == hash; });
    if (same) return each.path();
  }
  return base;
}

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

void find_file(LoadedRun& run, const fs::path& folder, const fs::path& checkpoint) {
  auto& train = run.config.train.extra.own<FineTuningKeys>();
  if (train.weights.empty()) return;
  train.weights = fs::absolute(folder / train.weights).lexically_normal().string();
  require_utf8_path("train.weights", train.weights);
  const bool is_base = train.lora && !is_full(run.config);
  if (run.config.purpose != Purpose::model && (checkpoint.empty() || is_base)) {
    require<IoError>(!is_base || !is_temporary(train.weights), "a packed run is no base for ",
                     "train.lora, which needs it whenever the run is opened; unpack it with tar");
    const auto wrong = error_of<IoError>([&] {
      run.weights = find_weights(with_hash(train.weights, train.weights_fingerprint), run.warnings);
      const std::string found = source_fingerprint(run.weights).text();
      require<IoError>(train.weights_fingerprint.empty() || train.weights_fingerprint == found,
                       run.weights.string(), ": changed: expected fingerprint ",
                       train.weights_fingerprint, ", got ", found);
      train.weights_fingerprint = found;
    });
    const char* const hint = checkpoint.empty() ? "" : if_moved;
    if (wrong) fail<IoError>(*wrong, hint);
  }
}

}  // namespace

void FineTuning::find_files(LoadedRun& run, const ConfigNode& tree, const fs::path& folder,
                            const fs::path& checkpoint, ConfigErrors& unreadable) const {
  attempt<IoError>(unreadable, tree.get("train"), "weights",
                   [&] { find_file(run, folder, checkpoint); });
}

void FineTuning::resolve(LoadedRun& run, const fs::path&) const {
  const fs::path folder = run.weights.parent_path(), config = folder / stored_config;
  const bool foreign = !run.weights.empty() && maker_of(folder) != nullptr;
  if (!run.task || run.weights.empty() || (!foreign && !is_there(config))) return;
  const ConfigNode before = foreign ? ConfigNode() : read_config(config.string()).get("data");
  const std::vector<std::string>& ignored = keys_of(run.config).weights_ignore;
  if (!matches_any(ignored, "tok_emb.weight") || !matches_any(ignored, "out_head.weight")) {
    run.warnings.push_back(other_ids(run, before.get("type").text()));
  }
  run.warnings.push_back(other_classes(folder, run.task->classes(), ignored));
  std::erase(run.warnings, "");
}

namespace {

// Parameters of the base that were not filled in have no other place.
void leave_out_base(Module& model, const std::vector<std::string>& ignored) {
  const std::set<const void*> drawn = parameters_matching(model, ignored);
  model.for_each_parameter([&](const std::string&, Parameter& parameter) {
    const bool is_trained = parameter.tensor().requires_grad();
    if (!is_trained && !drawn.contains(parameter.identity())) parameter.leave_out();
  });
}

}  // namespace

void FineTuning::prepare(Module& model, const LoadedRun& run, ConfigErrors& errors) const {
  const FineTuningKeys& train = keys_of(run.config);
  const ConfigNode& section = run.resolved.get("train");
  if (!run.weights.empty()) {
    attempt(errors, section, "weights",
            [&] { start_from(model, run.weights, train.weights_ignore); });
  }
  if (train.lora) {
    attempt(errors, section, "lora", [&] {
      adapter_registry().make(train.lora)->add_to(model);
      if (!run.weights.empty() && !is_full(run.config)) {
        leave_out_base(model, train.weights_ignore);
      }
    });
  }
  const bool trains = run.config.purpose == Purpose::train;
  for (const ConfigNode& pattern : section.get("freeze").children()) {
    const std::string mistake = trains ? mistake_in_freeze(model, pattern.text())
                                       : mistake_in_pattern(model, pattern.text());
    if (!mistake.empty()) errors.add(pattern, mistake);
  }
  if (trains && errors.empty()) freeze(model, train.freeze);
}

std::vector<std::pair<std::string, std::string>> FineTuning::details(const LoadedRun& run) const {
  if (run.weights.empty()) return {};
  std::string but;
  for (const std::string& pattern : keys_of(run.config).weights_ignore) {
    but += (but.empty() ? ", all but " : " and ") + pattern;
  }
  return {{"weights", text("from ", run.weights.string(), but)}};
}

std::vector<std::string> FineTuning::about_model(const LoadedRun& run, Module&) const {
  if (keys_of(run.config).lora && keys_of(run.config).weights.empty()) {
    return {
        "train.lora adds to weights that stay as they are drawn: train.weights says where to "
        "begin"};
  }
  return differences_from(run.weights, run.config.model);
}

void FineTuning::on_loaded(Module& model, const LoadedRun& run) const {
  if (const Choice& lora = keys_of(run.config).lora) {
    adapter_registry().make(lora)->merge_into(model);
    model.for_each_parameter([](const std::string&, Parameter& each) { each.leave_out(false); });
  }
}

}  // namespace heed
