#include "train/run/resume.h"

#include <algorithm>

#include "layers/config/values.h"
#include "train/checkpoint/manifest.h"
#include "train/config/resolve.h"
#include "train/config/run_hooks.h"
#include "train/yaml/yaml.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

using Values = std::map<std::string, std::string>;  // of a config, by path

// Whether a value is that of a key, or an element of it: "sample.end.0" of "sample.end".
bool is_of_any(const std::vector<std::string>& keys, const std::string& path) {
  return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
    return path.starts_with(key) && (path.size() == key.size() || path[key.size()] == '.');
  });
}

// The keys whose values may be others when a run goes on.
struct Changing {
  std::vector<std::string> keys;
  std::string in_words;  // "train.steps, anomaly, eval and sample"
};

Changing what_may_change() {
  std::vector<std::string> keys, within, whole;
  for (const std::string& file : keys_of_files()) {
    keys.push_back(file + "_fingerprint");  // where a run began says nothing about how it goes on
  }
  for (const FieldInfo& section : run_fields()) {
    const bool all = section.changes.value_or(false), is_group = !section.group.empty();
    if (all) whole.push_back(section.name);
    for (const FieldInfo& field : is_group ? section.group : std::vector{section}) {
      if (!field.changes.value_or(all)) continue;
      keys.push_back(is_group ? section.name + "." + field.name : section.name);
      if (!all) within.push_back(keys.back());
    }
  }
  within.insert(within.end(), whole.begin(), whole.end());
  const std::string last = within.back();
  within.pop_back();
  return {keys, joined(within) + " and " + last};
}

// The values that must stay the same to resume a run.
Values fixed_values(const ConfigNode& config, const Changing& changing) {
  Values values = values_without_locations(config);
  std::erase_if(values, [&](const auto& value) { return is_of_any(changing.keys, value.first); });
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
  const std::vector<std::string> files = keys_of_files();
  std::erase_if(values, [&](const auto& value) {
    const std::string& path = value.first;
    const bool known = path.starts_with("data.") && path.ends_with(".path") &&
                       values.contains(path.substr(0, path.size() - 4) + "fingerprint");
    return known || path == "data.validation" || path.starts_with("data.path.") ||  // of a list
           is_of_any(files, path);
  });
  return values;
}

void require_resumable(const fs::path& of_run, const ConfigNode& resumed) {
  const ConfigNode before = with_defaults(read_config(of_run.string()));
  for_each_hook([&](const RunHooks& each) { each.check_resumed(before, resumed); });
  const Changing changing = what_may_change();
  const std::string lines =
      differences(fixed_values(before, changing), fixed_values(resumed, changing), " in the run");
  require<ConfigError>(lines.empty(), "resume: only ", changing.in_words,
                       " may change; these differ:", lines);
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
