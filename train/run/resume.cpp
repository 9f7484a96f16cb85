#include "train/run/resume.h"

#include "train/checkpoint/manifest.h"
#include "train/config/run_config.h"
#include "train/yaml/yaml.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

bool may_change(const std::string& path) {
  // Where a run began says nothing about how it goes on.
  if (path == "train.weights" || path == "train.weights_fingerprint" || path == "train.steps" ||
      path == "train.log_every" || path == "train.shard_optimizer" || path == "anomaly" ||
      path.starts_with("train.show")) {
    return true;
  }
  const std::string section = path.substr(0, path.find('.'));
  return section == "eval" || section == "checkpoint" || section == "sample" ||
         section == "plugins";  // files can move; their types are named in other sections
}

// The values that must stay the same to resume a run, by path.
std::map<std::string, std::string> fixed_values(const ConfigNode& config) {
  std::map<std::string, std::string> values = values_without_locations(config);
  std::erase_if(values, [](const auto& value) { return may_change(value.first); });
  return values;
}

}  // namespace

std::map<std::string, std::string> values_without_locations(const ConfigNode& resolved) {
  std::map<std::string, std::string> values = flat_values(resolved);
  std::erase_if(values, [&](const auto& value) {
    const std::string& path = value.first;
    const bool known = path.starts_with("data.") && path.ends_with(".path") &&
                       values.contains(path.substr(0, path.size() - 4) + "fingerprint");
    return known || path == "data.validation" ||  // it has a fingerprint
           path == "train.weights" || path.starts_with("plugins");
  });
  return values;
}

void require_resumable(const fs::path& of_run, const ConfigNode& resumed) {
  const auto before = fixed_values(with_defaults(read_config(of_run.string())));
  const auto now = fixed_values(resumed);
  const auto at = [](const auto& values, const std::string& path) {
    const auto found = values.find(path);
    return found == values.end() ? std::string("nothing") : found->second;
  };
  std::string differences;
  std::map<std::string, std::string> all = before;
  all.insert(now.begin(), now.end());
  for (const auto& [path, value] : all) {
    if (at(before, path) != at(now, path)) {
      differences +=
          text("\n  ", path, ": ", at(before, path), " in the run, ", at(now, path), " now");
    }
  }
  require<ConfigError>(differences.empty(),
                       "resume: only train.steps, train.log_every, train.show, ",
                       "train.shard_optimizer, anomaly, eval, checkpoint and sample may change; ",
                       "these differ:", differences);
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
