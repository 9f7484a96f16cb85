#include "train/config/data_and_model.h"

#include <algorithm>
#include <sstream>

#include "layers/config/values.h"
#include "train/config/model_start.h"
#include "train/data/task.h"
#include "train/files/files.h"

namespace heed {

namespace fs = std::filesystem;

namespace {

// Whether the type that a section chooses has this field. False for an unknown type.
bool has_field(const std::string& kind, const ConfigNode& section, const std::string& name) {
  const ConfigType* type = config_types(kind).find(section.get("type").text());
  return type != nullptr && std::any_of(type->fields().begin(), type->fields().end(),
                                        [&](const FieldInfo& field) { return field.name == name; });
}

struct NumberField {
  std::string name;
  std::optional<int64_t> value;
};

// The field of the model into which a size of this name is filled; no value if there is none.
NumberField filled_as(const std::string& size_name, const Choice& model) {
  if (model.has_config()) {
    for (const Field& field : fields_of(model.config())) {
      const auto* value = member_of<int64_t>(field);
      if (value != nullptr && field.info.fill_name() == size_name) {
        return {field.info.name, *value};
      }
    }
  }
  return {};
}

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

}  // namespace

void add_lines(ConfigErrors& errors, const std::string& message) {
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) {
    errors.add_at({}, "", line);
  }
}

DataAndModel::DataAndModel(RunConfig& config, const ConfigNode& tree, Folders folders,
                           ConfigErrors& errors, ConfigErrors& unreadable)
    : config_(config),
      tree_(tree),
      folders_(std::move(folders)),
      errors_(errors),
      unreadable_(unreadable) {
  config_.fill_data = [this](Defaults& d) { fill_data(d); };
  config_.fill_model = [this](Defaults& d) { fill_model(d); };
}

DataAndModel::~DataAndModel() { config_.fill_data = config_.fill_model = {}; }

// The model has not been read yet. If its context_length is missing or wrong, that is reported
// there, and 1 lets the rest of the data section be checked.
void DataAndModel::fill_data(Defaults& d) {
  mistakes_before_data_ = errors_.count();
  const ConfigNode& model = tree_.get("model");
  const bool known = config_types("layer").find(model.get("type").text()) != nullptr;
  if (!known || has_field("layer", model, "context_length")) {
    d.set("context_length",
          std::max<int64_t>(1, whole_number(model.get("context_length")).value_or(1)));
  }
}

// Without a task, what the data would decide is 1, or a width that 1 to 16 heads divide evenly, so
// that the other mistakes are found too, and no false ones.
void DataAndModel::fill_model(Defaults& d) {
  make_task();
  const ConfigNode& data = tree_.get("data");
  for (const std::string& field : sizes_of_data) {
    const bool decided =
        data.is_map() && (field == "vocab_size" || !has_field("task", data, field));
    if (!task && decided) {
      d.set(field, field.starts_with("d_") ? int64_t{2 * 720'720} : int64_t{1});
    }
  }
  if (!task) {
    return;
  }
  for (const auto& [field, size] : task->model_sizes()) {
    d.set(field, size);
  }
}

// An empty name would be that of the config's folder. Only a text may have no file: an imported
// model can be asked without one.
void DataAndModel::check_file_names() {
  const ConfigNode &data = tree_.get("data"), &tokenizer = data.get("tokenizer");
  for (const ConfigNode* const section : {&data, &tokenizer}) {
    const ConfigNode& path = section->get("path");
    if (path.is_scalar() && path.text().empty() &&
        (section == &tokenizer || data.get("type").text() != "text")) {
      errors_.add_field(*section, "path", "expected the name of a file, got nothing");
    }
  }
}

void DataAndModel::make_task() {
  check_file_names();
  if (!config_.data || errors_.count() > mistakes_before_data_) {
    return;
  }
  const TaskSetup setup{.config_folder = folders_.config,
                        .checkpoint = folders_.checkpoint,
                        .vocabulary = vocabulary_folder(),
                        .seed = static_cast<uint64_t>(config_.seed),
                        .batch_size = config_.train.batch_size};
  try {
    task = task_registry().make(config_.data, setup);
  } catch (const TaskError& error) {
    const ConfigNode& data = tree_.get("data");
    const ConfigNode& section = data.has(error.field) ? data : tree_.get("model");
    const ConfigNode& node = section.has(error.field) ? section.get(error.field) : data;
    errors_.add_at(node.mark(), join_path("data", error.field), error.what());
  } catch (const TaskFileError& error) {
    const size_t dot = error.field.find('.');
    const ConfigNode& section = tree_.get("data");
    unreadable_.add_field(
        dot == std::string::npos ? section : section.get(error.field.substr(0, dot)),
        error.field.substr(dot + 1),
        error.what() + (error.field == "validation" ? way_to_data() : ""));
  } catch (const RowError& error) {
    add_lines(errors_, error.what());
  } catch (const ConfigError& error) {
    errors_.add_at(tree_.get("data").mark(), "data", error.what());
  } catch (const IoError& error) {
    unreadable_.add_field(tree_.get("data"), "path", error.what() + way_to_data());
  }
}

fs::path DataAndModel::vocabulary_folder() const {
  const bool begins = folders_.checkpoint.empty() && config_.purpose == Purpose::train;
  return begins ? model_start().vocabularies(tree_.get("train"), folders_.config)
                : folders_.checkpoint;
}

std::string DataAndModel::way_to_data() const {
  const ConfigNode& data = tree_.get("data");
  for (const std::string key : {"path", "validation"}) {
    const std::string& name = data.get(key).text();
    if (name.empty() || is_there(folders_.config / name)) {
      continue;
    }
    if (data.has("fingerprint") && !data.get("fingerprint").text().empty()) {
      return "; if it has moved: --set data." + key + "=FILE";
    }
    return ("/" + name).find("/~/") != std::string::npos
               ? "; ~ is not expanded, write the whole path"
               : similar_file(folders_.config / name, name);
  }
  return "";
}

void DataAndModel::check_sizes() const {
  const ConfigNode& model = tree_.get("model");
  for (const auto& [size_name, size] :
       task ? task->model_sizes() : decltype(task->model_sizes())()) {
    const auto [field, value] = filled_as(size_name, config_.model);
    if (value && *value != size && !errors_.are_within("model." + field)) {
      errors_.add_field(model, field, "expected ", size, ", as the data has it, or nothing; got ",
                        in_words(model.get(field)));
    }
  }
  const auto* of_data = config_.data.find<int64_t>("context_length");
  const auto* of_model = config_.model.find<int64_t>("context_length");
  if (of_data != nullptr && of_model != nullptr && *of_model > 0 && *of_data > *of_model) {
    errors_.add_field(tree_.get("data"), "context_length", "must be at most model.context_length ",
                      *of_model, ", got ", *of_data);
  }
}

}  // namespace heed
