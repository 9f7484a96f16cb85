#include "train/weights/source.h"

#include "autograd/base/modes.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/state_dict.h"
#include "train/weights/foreign.h"
#include "train/weights/freeze.h"

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
  if (const auto foreign = maker_of(source)) {
    return foreign->weights_file(source);
  }
  return resolve_run(source, warnings).checkpoint / "model.safetensors";
}

Fingerprint source_fingerprint(const fs::path& file) {
  if (const auto foreign = maker_of(file.parent_path())) {
    return foreign->fingerprint(file);
  }
  const SafeTensors header(file);  // what has none is refused before all of it is read
  return fingerprint_file(file);
}

std::string not_these_weights(const IoError& error) {
  std::string mistakes = error.what();
  for (size_t at = 0; (at = mistakes.find('\n')) != std::string::npos;) {
    mistakes.replace(at, 1, "; ");
  }
  return text("these are not the weights of this model: ", mistakes,
              "; weights_ignore: [PATTERNS] lets tensors differ that are meant to");
}

namespace {

// Training would end at its first step, or never show it: an embedding may have rows that no text
// of the run needs.
void require_finite_weights(const Module& model, const fs::path& file) {
  for (const NamedParameter& parameter : model.parameters()) {
    const std::string mistake = mistake_in_weights(parameter.tensor.value());
    require<IoError>(mistake.empty(), file.string(), ": ", parameter.name, ": ", mistake);
  }
}

}  // namespace

void start_from(Module& model, const fs::path& path, const std::vector<std::string>& ignored) {
  const auto is_ignored = [&](const std::string& name) { return matches_any(ignored, name); };
  if (const auto foreign = maker_of(path.parent_path())) {
    foreign->load(model, path, is_ignored);
    return;
  }
  const SafeTensors file(path);
  try {
    check_parameters(model, file, Extra::refuse, is_ignored);
  } catch (const IoError& error) {
    fail<ConfigError>(not_these_weights(error));
  }
  if (!dry_run()) {
    load_parameters(model, file, Extra::refuse, is_ignored);
    require_finite_weights(model, path);
  }
}

std::vector<std::string> differences_from(const fs::path& file, const Module& model) {
  const auto foreign = file.empty() ? nullptr : maker_of(file.parent_path());
  return foreign ? foreign->differences(file, model) : std::vector<std::string>();
}

}  // namespace heed
