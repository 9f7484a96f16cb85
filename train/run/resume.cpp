#include "train/run/resume.h"

#include "layers/config/values.h"
#include "train/checkpoint/manifest.h"
#include "train/config/run_hooks.h"
#include "train/yaml/yaml.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

using Values = std::map<std::string, std::string>;  // of a config, by path

constexpr std::string_view fingerprint_ending = "_fingerprint";

// The field at the path of a value, such as "train.show.0", and the group around it, or null.
std::pair<const FieldInfo*, const FieldInfo*> field_at(const std::vector<FieldInfo>& fields,
                                                       const std::string& path) {
  const size_t dot = path.find('.');
  const FieldInfo* const field = find_field(fields, path.substr(0, dot));
  if (field == nullptr || field->group.empty() || dot == path.npos) return {field, nullptr};
  const std::string below = path.substr(dot + 1);
  return {find_field(field->group, below.substr(0, below.find('.'))), field};
}

bool is_path(const std::vector<FieldInfo>& fields, const std::string& path) {
  const FieldInfo* const field = field_at(fields, path).first;
  return field != nullptr && field->is_path;
}

bool may_change(const std::vector<FieldInfo>& fields, const std::string& path) {
  const auto [field, group] = field_at(fields, path);
  const bool as_around = group != nullptr && group->changes.value_or(false);
  // Where a run began says nothing about how it goes on.
  const bool knows_file = path.ends_with(fingerprint_ending) &&
                          is_path(fields, path.substr(0, path.size() - fingerprint_ending.size()));
  return field == nullptr ? as_around : knows_file || field->changes.value_or(as_around);
}

// All that may change, in words: "train.steps, train.show, eval and sample".
std::string what_may_change(const std::vector<FieldInfo>& fields) {
  std::vector<std::string> within, whole;
  for (const FieldInfo& field : fields) {
    const bool may = field.changes.value_or(false);
    if (may) whole.push_back(field.name);
    for (const FieldInfo& inner : field.group) {
      if (!may && inner.changes.value_or(false)) within.push_back(field.name + "." + inner.name);
    }
  }
  within.insert(within.end(), whole.begin(), whole.end());
  const std::string last = within.back();
  within.pop_back();
  return joined(within) + " and " + last;
}

// The values that must stay the same to resume a run.
Values fixed_values(const ConfigNode& config) {
  Values values = values_without_locations(config);
  const std::vector<FieldInfo> fields = run_fields();
  std::erase_if(values, [&](const auto& value) { return may_change(fields, value.first); });
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
  const std::vector<FieldInfo> fields = run_fields();
  std::erase_if(values, [&](const auto& value) {
    const std::string& path = value.first;
    const bool known = path.starts_with("data.") && path.ends_with(".path") &&
                       values.contains(path.substr(0, path.size() - 4) + "fingerprint");
    return known || path == "data.validation" || path.starts_with("data.path.") ||  // of a list
           is_path(fields, path);
  });
  return values;
}

void require_resumable(const fs::path& of_run, const ConfigNode& resumed) {
  const ConfigNode before = with_defaults(read_config(of_run.string()));
  for_each_hook([&](const RunHooks& each) { each.check_resumed(before, resumed); });
  const std::string lines = differences(fixed_values(before), fixed_values(resumed), " in the run");
  require<ConfigError>(lines.empty(), "resume: only ", what_may_change(run_fields()),
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
