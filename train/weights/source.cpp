#include "train/weights/source.h"

#include "autograd/base/modes.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/state_dict.h"
#include "train/weights/freeze.h"
#include "train/wings/hugging_face/folder.h"
#include "train/wings/hugging_face/json.h"

namespace heed {

namespace fs = std::filesystem;

fs::path find_weights(const fs::path& source, std::vector<std::string>& warnings) {
  std::error_code error;
  if (!fs::is_directory(source, error)) {
    require<IoError>(is_there(source), source.string(),
                     ": expected a run folder, a checkpoint, a safetensors file or a Hugging Face "
                     "folder: not there");
    return source;
  }
  if (is_hugging_face_folder(source)) {
    return weights_file(source);
  }
  return resolve_run(source, warnings).checkpoint / "model.safetensors";
}

Fingerprint source_fingerprint(const fs::path& file) {
  const FolderWeights headers(file);  // what has none is refused before all of it is read
  return weights_fingerprint(file);
}

namespace {

// Calls load(); an error of a config has one line.
template <class F>
void as_config_error(const F& load) {
  try {
    load();
  } catch (const IoError& error) {
    std::string mistakes = error.what();
    for (size_t at = 0; (at = mistakes.find('\n')) != std::string::npos;) {
      mistakes.replace(at, 1, "; ");
    }
    fail<ConfigError>("these are not the weights of this model: ", mistakes,
                      "; weights_ignore: [PATTERNS] lets tensors differ that are meant to");
  }
}

ImportedModel model_in(const fs::path& folder) {
  const fs::path config = folder / "config.json";
  return model_of_json(read_json(config), config.string());
}

// Training would end at its first step, or never show it: an embedding may have rows that no text
// of the run needs.
void require_finite_weights(const Module& model, const fs::path& file) {
  for (const NamedParameter& parameter : model.parameters()) {
    const std::string mistake = mistake_in_weights(parameter.tensor.value());
    require<IoError>(mistake.empty(), file.string(), ": ", parameter.name, ": ", mistake);
  }
}

void start_from_folder(Module& model, const fs::path& file, const IsIgnored& ignored) {
  const Architecture& architecture = *model_in(file.parent_path()).architecture;
  auto* const gpt = dynamic_cast<Gpt*>(&model);
  require<ConfigError>(gpt != nullptr, file.parent_path().string(), " holds a ",
                       architecture.model_type, ", which only a model of type gpt can take");
  const std::string wrong = obstacle(architecture, *gpt);
  require<ConfigError>(wrong.empty(), "these are not the weights of this model: ", wrong);
  const FolderWeights weights(file);
  as_config_error([&] { check_weights(architecture, *gpt, weights, ignored); });
  if (!dry_run()) {
    require<ConfigError>(load_weights(architecture, *gpt, weights, ignored),
                         "these are not the weights of this model: its positions are ",
                         gpt->config.position, ", those of the file were learned");
  }
}

}  // namespace

void start_from(Module& model, const fs::path& path, const std::vector<std::string>& ignored) {
  const auto is_ignored = [&](const std::string& name) { return matches_any(ignored, name); };
  if (is_hugging_face_folder(path.parent_path())) {
    start_from_folder(model, path, is_ignored);
    return;
  }
  const SafeTensors file(path);
  as_config_error([&] { check_parameters(model, file, Extra::refuse, is_ignored); });
  if (!dry_run()) {
    load_parameters(model, file, Extra::refuse, is_ignored);
    require_finite_weights(model, path);
  }
}

std::vector<std::string> differences_from(const fs::path& file, const Module& model) {
  const auto* const gpt = dynamic_cast<const Gpt*>(&model);
  if (file.empty() || gpt == nullptr || !is_hugging_face_folder(file.parent_path())) {
    return {};
  }
  const ConfigNode theirs = model_in(file.parent_path()).model;
  const ConfigNode ours = ConfigNode::map({{"num_heads", gpt->config.num_heads},
                                           {"norm_eps", gpt->config.norm_eps},
                                           {"activation", gpt->config.activation},
                                           {"rope_base", gpt->config.rope_base}});
  std::vector<std::string> lines;
  for (const ConfigNode& field : ours.children()) {
    const ConfigNode& other = theirs.get(field.key());
    if (!other.is_absent() && other.text() != field.text()) {
      lines.push_back(text("model.", field.key(), " is ", field.text(),
                           ", but the weights were made with ", other.text()));
    }
  }
  return lines;
}

}  // namespace heed
