#include "train/config/data_and_model.h"

#include <algorithm>
#include <sstream>

#include "layers/config/values.h"
#include "train/files/files.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

// Whether the type that a section chooses has this field; `otherwise` for an unknown type.
bool has_field(const std::string& kind, const ConfigNode& section, const std::string& name,
               bool otherwise = false) {
  const ConfigType* type = config_types(kind).find(section.get("type").text());
  return type == nullptr ? otherwise : find_field(type->fields(), name) != nullptr;
}

}  // namespace

void share_context_length(ConfigNode& config) {
  ConfigNode* const model = config.find("model");
  const int64_t length = whole_number(config.get("data").get("context_length")).value_or(0);
  if (length > 0 && model != nullptr && model->is_map() && !model->has("context_length") &&
      has_field("layer", *model, "context_length", true)) {
    model->set("context_length", length);
  }
}

// Where it is missing or wrong, that is reported at the model: windows of one token let the rest of
// the data be checked.
Sizes sizes_for_data(const ConfigNode& config) {
  const ConfigNode& model = config.get("model");
  if (!has_field("layer", model, "context_length", true)) {
    return {};
  }
  return {{"context_length",
           std::max<int64_t>(1, whole_number(model.get("context_length")).value_or(1))}};
}

Sizes sizes_for_model(const ConfigNode& config, const Task* task) {
  if (task != nullptr) {
    return task->model_sizes();
  }
  constexpr int64_t guess = 2 * 720'720;  // large, and divided evenly by 1 to 16 heads
  const ConfigNode& data = config.get("data");
  Sizes sizes;
  for (const std::string& field : sized_by_data) {
    if (data.is_map() && (field == "vocab_size" || !has_field("task", data, field))) {
      sizes.emplace_back(field, guess);
    }
  }
  return sizes;
}

void check_sizes(const ConfigNode& config, const Choice& data, const Choice& model,
                 const Task* task, ConfigErrors& errors) {
  for (const Field& field : model.has_config() ? fields_of(model.config()) : std::vector<Field>()) {
    const std::string& name = field.info.name;
    const auto* value = member_of<int64_t>(field);
    const int64_t size = task != nullptr ? task->model_size(field.info.fill_name()) : 0;
    const bool or_more = task != nullptr && name.ends_with("_length") && task->may_be_longer();
    if (value != nullptr && size > 0 && *value != size && !(or_more && *value > size) &&
        !errors.are_within("model." + name)) {
      errors.add_field(config.get("model"), name, "expected ", or_more ? "at least " : "", size,
                       ", as the data has it, or nothing; got ",
                       in_words(config.get("model").get(name)));
    }
  }
  const auto* of_data = data.find<int64_t>("context_length");
  const auto* of_model = model.find<int64_t>("context_length");
  if (of_data != nullptr && of_model != nullptr && *of_model > 0 && *of_data > *of_model) {
    errors.add_field(config.get("data"), "context_length", "must be at most model.context_length ",
                     *of_model, ", got ", *of_data);
  }
}

namespace {

// The file next to a missing one that has nearly its name; or, for the `name` in a config, where it
// was looked for.
std::string similar_file(const fs::path& missing, const fs::path& name) {
  constexpr size_t most_files = 1000;
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator file(fs::absolute(missing).parent_path(), error), end;
       !error && file != end && names.size() < most_files; file.increment(error)) {
    names.push_back(file->path().filename().string());
  }
  const std::string near = nearest(missing.filename().string(), names);
  if (!near.empty()) {
    return "; did you mean " + printable(near) + ", which is in that folder?";
  }
  return name.is_absolute() ? "" : "; paths in a config are relative to its folder";
}

// What to do about a data file that is not there: the data of a run may have moved.
std::string way_to_data(const ConfigNode& data, const fs::path& folder) {
  for (const std::string key : {"path", "validation"}) {
    const std::string& name = data.get(key).text();
    if (name.empty() || is_there(folder / name)) {
      continue;
    }
    if (data.has("fingerprint") && !data.get("fingerprint").text().empty()) {
      return "; if it has moved: --set data." + key + "=FILE";
    }
    return ("/" + name).find("/~/") != std::string::npos
               ? "; ~ is not expanded, write the whole path"
               : similar_file(folder / name, name);
  }
  return "";
}

}  // namespace

void add_lines(ConfigErrors& errors, const std::string& message) {
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) {
    errors.add_at({}, "", line);
  }
}

std::unique_ptr<Task> make_task(const ConfigNode& config, const Choice& choice,
                                const TaskSetup& setup, ConfigErrors& errors,
                                ConfigErrors& unreadable) {
  const ConfigNode& data = config.get("data");
  if (TaskSetup trial = setup; setup.data == TaskSetup::Data::wanted) {
    for (ConfigErrors ignored;
         const auto each : {TaskSetup::Data::needed, TaskSetup::Data::absent}) {
      trial.data = each;
      if (auto task = make_task(config, choice, trial, ignored, ignored)) return task;
    }
  }
  try {
    return task_registry().make(choice, setup);
  } catch (const TaskError& error) {
    const ConfigNode& section = data.has(error.field) ? data : config.get("model");
    const ConfigNode& node = section.has(error.field) ? section.get(error.field) : data;
    errors.add_at(node.mark(), join_path("data", error.field), error.what());
  } catch (const TaskFileError& error) {
    const size_t dot = error.field.find('.');
    unreadable.add_field(
        dot == std::string::npos ? data : data.get(error.field.substr(0, dot)),
        error.field.substr(dot + 1),
        error.what() + (error.field == "validation" ? way_to_data(data, setup.config_folder) : ""));
  } catch (const RowError& error) {
    add_lines(errors, error.what());
  } catch (const ConfigError& error) {
    errors.add_at(data.mark(), "data", error.what());
  } catch (const IoError& error) {
    unreadable.add_field(data, "path", error.what() + way_to_data(data, setup.config_folder));
  }
  return nullptr;
}

}  // namespace heed
