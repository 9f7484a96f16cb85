// The libraries that a config needs.
#pragma once

#include <string>
#include <vector>

#include "layers/config/section_keys.h"

namespace heed {

struct PluginKeys {
  std::vector<std::string> plugins;

  void fields(Fields& f) {
    f.optional("plugins", plugins, "libraries with layers, tasks, ... of your own: [./libmine.so]")
        .names_file();
  }
};
HEED_KEYS(PluginKeys, "run");

}  // namespace heed
