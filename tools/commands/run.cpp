#include "tools/commands/run.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "layers/config/values.h"
#include "layers/text/display.h"
#include "tools/terminal/table.h"
#include "train/config/run_hooks.h"
#include "train/run/resume.h"
#include "train/tokenizers/vocabulary.h"
#include "train/yaml/yaml.h"

namespace heed::cli {

void require_precision_of(const RunTree& config) {
  const std::string& precision = config.root.get("precision").text();
  if (precision == "float32" || precision == "float64") {
    require_precision(precision);
  }
}

void check_run_sets(const std::vector<std::string>& sets) {
  for (const std::string& set : sets) {
    require<ConfigError>(set.starts_with("data.path=") || set.starts_with("data.validation=") ||
                             set.starts_with("train.weights=") ||
                             (set.starts_with("train.") && set.ends_with("=none")),
                         "--set ", printable(set), ": of a run, only data.path and train.weights ",
                         "may be set, and keys of train to none: it is as it was trained");
  }
}

namespace {

// What --set would do to have a run read `file`: all of it is one part, and classes keep the
// numbers that the model knows them by.
std::vector<std::string> sets_for_file(const RunArgument& of, const std::string& file) {
  const ConfigNode root = read_config((of.run / "config.yaml").string());
  const ConfigNode& data = root.get("data");
  require<ConfigError>(data.has("path"), "--data ", printable(file), ": ", data.get("type").text(),
                       " makes its examples itself and reads no file");
  std::vector<std::string> sets{"data.path=" + file, "eval={}", "checkpoint={}",
                                "train.batch_size=1"};  // a small file will do
  const auto put = [&](const char* key, const std::string& value) {
    if (data.has(key)) sets.push_back(text("data.", key, "=", value));
  };
  for (const char* key : {"fingerprint", "validation", "validation_fingerprint"}) {
    put(key, R"("")");
  }
  put("train_fraction", "1");
  const std::string classes = read_vocabulary(of.checkpoint, stored_classes);
  if (!classes.empty()) {
    put("classes", nlohmann::json(vocabulary_from_json(classes, "classes")).dump(-1, ' ', true));
  }
  return sets;
}

}  // namespace

TrainedRun load_trained(const std::string& run, const std::vector<std::string>& sets,
                        const std::string& file, Purpose purpose) {
  check_run_sets(sets);
  std::vector<std::string> warnings;
  const RunArgument of = resolve_run(run, warnings);
  const RunTree tree =
      read_run_tree(of.run / "config.yaml", file.empty() ? sets : sets_for_file(of, file));
  require_precision_of(tree);
  for (const std::string& set : sets) {
    if (!set.starts_with("train.weights=")) continue;
    const ConfigNode trained = read_config((of.run / "config.yaml").string());
    require<ConfigError>(!trained.get("train").get("weights").text().empty(), "--set ",
                         printable(set), ": ", run, " was not trained from weights; leave it out");
  }
  print_lines(stderr, warnings);
  try {
    TrainedRun trained{load_run(RunTree(tree), of.run, purpose, of.checkpoint), {}, {}};
    apply_settings(trained.loaded.config);
    trained.model = make_model(trained.loaded);
    trained.model->train(false);
    if (file.empty()) {
      require_same_model(of.checkpoint / "config.yaml", of.run / "config.yaml",
                         trained.loaded.resolved);
    }
    trained.state = load_checkpoint(of.checkpoint, *trained.model, nullptr);
    for_each_hook([&](const RunHooks& each) { each.on_loaded(*trained.model, trained.loaded); });
    return trained;
  } catch (const Error&) {
    if (resolve_run(run, warnings).checkpoint == of.checkpoint) {
      throw;
    }
  }
  return load_trained(run, sets, file, purpose);  // training has removed that checkpoint meanwhile
}

void require_tokenizer(const TrainedRun& run, const std::string& model) {
  const RunConfig& config = run.loaded.config;
  const bool is_run = config.purpose != Purpose::model;  // one that was imported has made no step
  require<ConfigError>(
      run.loaded.task->tokenizer() != nullptr, model,
      is_run && run.state.step == 0
          ? " was imported without a tokenizer; import it again with --tokenizer FILE, "
            "or ask it in ids: heed generate RUN --ids 5,17,3"
          : text(is_run ? " was trained on " : " is to be trained on ", config.data.type(),
                 ", which has no text to continue"));
}

Input input_of_ids(const Module& model, const std::string& option, const std::string& ids) {
  const Signature takes = model.signature();
  require<ConfigError>(takes.ids && takes.source_vocab_size == 0, option,
                       ": expected a model that reads one sequence of tokens");
  std::vector<int32_t> found;
  std::istringstream words(ids + ",");
  for (std::string word; std::getline(words, word, ',');) {
    const auto id = whole_number(ConfigNode::scalar(word, false));
    require<ConfigError>(id && *id >= 0 && *id < takes.vocab_size, option,
                         ": expected ids from 0 to ", takes.vocab_size - 1,
                         " with commas between them, as 5,17,3, got ",
                         word.empty() ? "nothing" : printable(word));
    found.push_back(static_cast<int32_t>(*id));
  }
  const auto count = static_cast<int64_t>(found.size());
  require<ConfigError>(count <= takes.longest.value_or(count), option, ": expected at most ",
                       takes.longest.value_or(0), " ids, the model's context, got ", count);
  return Input(Ids::from({1, count}, found));
}

}  // namespace heed::cli
