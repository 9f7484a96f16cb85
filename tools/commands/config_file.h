// The configs that come with heed, by name: `heed train quickstart`.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heed::cli {

// Name and file. They lie in ../share/heedgrad, seen from the program, in folders like those of the
// sources; or in a build folder in share/heedgrad, behind links to those of the checkout.
std::map<std::string, std::filesystem::path> own_configs();

// The config or run that an argument names: a bare NAME is what the current folder has by this
// name, else NAME.yaml there, else one of own_configs(). nullopt if there is none.
std::optional<std::string> find_config(const std::string& argument);

// The same; throws IoError, with the nearest name, if there is none.
std::string config_file(const std::string& argument);

// A text, or a folder of texts, in place of a config: returns the file of the config quickstart,
// and puts `argument` into its data.path, before other `sets`. What is a config, by its name
// *.yaml or *.json or by its sections, is returned. Throws ConfigError for a run.
std::filesystem::path config_for_text(const std::string& argument, std::vector<std::string>& sets);

// What training on a text says about its config.
inline constexpr const char* quickstart_note =
    "config     quickstart's, for your text; heed configs quickstart --copy mine copies it";

// Throws ConfigError if an option is given and --set has its key.
void require_once(const std::string& command, const std::string& option, bool given,
                  const std::vector<std::string>& sets, const std::string& key);

// The folder of a run that is one file, by the command that makes such files; any other path stays.
std::string unpacked(const std::string& run);
// A message in which such folders, and texts in place of a config, stand as they were typed.
std::string as_typed(std::string message);

}  // namespace heed::cli
