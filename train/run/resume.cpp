#include "train/run/resume.h"

#include "train/checkpoint/manifest.h"
#include "train/config/run_config.h"
#include "train/yaml/yaml.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

using Values = std::map<std::string, std::string>;  // of a config, by path

bool may_change(const std::string& path) {
  // Where a run began says nothing about how it goes on.
  if (path == "train.weights_fingerprint" || path == "train.steps" || path == "train.log_every" ||
      path == "train.max_seconds" || path == "anomaly" || path.starts_with("train.show")) {
    return true;
  }
  const std::string section = path.substr(0, path.find('.'));
  return section == "eval" || (section == "checkpoint" && path != "checkpoint.full") ||
         section == "sample" ||
         section == "plugins";  // files can move; other sections name their types
}

// The values that must stay the same to resume a run.
Values fixed_values(const ConfigNode& config) {
  Values values = values_without_locations(config);
  std::erase_if(values, [](const auto& value) { return may_change(value.first); });
  return values;
}

// The values that decide what the weights of a run compute, and which examples are held out. The
// files have been compared by their fingerprints.
Values values_of_model(const ConfigNode& config) {
  Values values = values_without_locations(config);
  std::erase_if(values, [](const auto& value) {
    const std::string& path = value.first;
    const bool decides = path.starts_with("model.") || path.starts_with("data.") || path == "seed";
    return !decides || path == "data.path" || path.ends_with("fingerprint");
  });
  return values;
}

// A line for each value that differs, "\n  model.num_heads: 3 in the run, 1 now"; else "".
std::string differences(const Values& before, const Values& now, const char* where) {
  const auto at = [](const Values& values, const std::string& path) {
    const auto found = values.find(path);
    return found == values.end() ? std::string("nothing") : found->second;
  };
  std::string lines;
  Values all = before;
  all.insert(now.begin(), now.end());
  for (const auto& [path, value] : all) {
    if (at(before, path) != at(now, path)) {
      lines += text("\n  ", path, ": ", at(before, path), where, ", ", at(now, path), " now");
    }
  }
  return lines;
}

}  // namespace

std::map<std::string, std::string> values_without_locations(const ConfigNode& resolved) {
  std::map<std::string, std::string> values = flat_values(resolved);
  std::erase_if(values, [&](const auto& value) {
    const std::string& path = value.first;
    const bool known = path.starts_with("data.") && path.ends_with(".path") &&
                       values.contains(path.substr(0, path.size() - 4) + "fingerprint");
    return known || path == "data.validation" || path.starts_with("data.path.") ||  // of a list
           path == "train.weights" || path.starts_with("plugins");
  });
  return values;
}

void require_resumable(const fs::path& of_run, const ConfigNode& resumed) {
  const ConfigNode before = with_defaults(read_config(of_run.string()));
  const std::string began = before.get("train").get("weights").text();
  const std::string given = resumed.get("train").get("weights").text();
  const bool is_base = resumed.get("train").has("lora") &&  // found by its hash, wherever it is
                       resumed.get("checkpoint").get("full").text() == "false";
  require<ConfigError>(is_base || given == began || given.empty(),
                       "train.weights: a resumed run continues ",
                       "with its own weights, which began ",
                       began.empty() ? "as drawn" : "at " + began, "; expected that, got ", given);
  const std::string lines = differences(fixed_values(before), fixed_values(resumed), " in the run");
  require<ConfigError>(lines.empty(),
                       "resume: only train.steps, train.max_seconds, train.log_every, train.show, ",
                       "anomaly, eval, checkpoint and sample may change; these differ:", lines);
}

void require_same_model(const fs::path& of_checkpoint, const fs::path& of_run,
                        const ConfigNode& now) {
  const ConfigNode saved = with_defaults(read_config(of_checkpoint.string()));
  const std::string lines =
      differences(values_of_model(saved), values_of_model(now), " in the checkpoint");
  require<ConfigError>(lines.empty(), of_run.string(),
                       ": was changed after training, and says something else than the ",
                       "checkpoint about the model or its data; these differ:", lines);
}

std::vector<std::string> changes_since(const Manifest& saved,
                                       const std::map<std::string, std::string>& now) {
  std::vector<std::string> lines;
  for (const auto& [what, value] : now) {
    const auto before = saved.made_with.find(what);
    if (before != saved.made_with.end() && before->second != value) {
      lines.push_back(text(what, ": ", before->second, " until step ", saved.step, ", ", value,
                           " now; the run does not go on with the same bits"));
    }
  }
  return lines;
}

bool same_evaluations(const fs::path& of_run, const ConfigNode& resumed) {
  const ConfigNode before = with_defaults(read_config(of_run.string()));
  return before.get("eval").get("batches") == resumed.get("eval").get("batches");
}

}  // namespace heed
