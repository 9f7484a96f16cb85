// The configs that come with heed, by name: `heed train quickstart`.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace heed::cli {

// Name and file. They lie in ../share/heedgrad/configs, seen from the program, or in a build folder
// behind share/heedgrad/configs, a link to those of the checkout.
std::map<std::string, std::filesystem::path> own_configs();

// The config or run that an argument names: a bare NAME is what the current folder has by this
// name, else NAME.yaml there, else one of own_configs(). nullopt if there is none.
std::optional<std::string> find_config(const std::string& argument);

// The same; throws IoError, with the nearest name, if there is none.
std::string config_file(const std::string& argument);

}  // namespace heed::cli
