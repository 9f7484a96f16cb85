#include "train/weights/source.h"

#include "autograd/base/modes.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/state_dict.h"
#include "train/weights/freeze.h"

namespace heed {

namespace fs = std::filesystem;

fs::path find_weights(const fs::path& source, std::vector<std::string>& warnings) {
  std::error_code error;
  if (!fs::is_directory(source, error)) {
    require<IoError>(fs::exists(source, error), source.string(),
                     ": expected a run folder, a checkpoint or a safetensors file: not there");
    return source;
  }
  return resolve_run(source, warnings).checkpoint / "model.safetensors";
}

void start_from(Module& model, const fs::path& path, const std::vector<std::string>& ignored) {
  const SafeTensors file(path);
  const auto is_ignored = [&](const std::string& name) { return matches_any(ignored, name); };
  try {
    check_parameters(model, file, Extra::refuse, is_ignored);
  } catch (const IoError& error) {
    std::string mistakes = error.what();  // a line each; an error of a config has one line
    for (size_t at = 0; (at = mistakes.find('\n')) != std::string::npos;) {
      mistakes.replace(at, 1, "; ");
    }
    fail<ConfigError>("these are not the weights of this model: ", mistakes,
                      "; weights_ignore: [PATTERNS] lets tensors differ that are meant to");
  }
  if (!dry_run()) {
    load_parameters(model, file, Extra::refuse, is_ignored);
  }
}

}  // namespace heed
