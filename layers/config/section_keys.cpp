#include "layers/config/section_keys.h"

#include <algorithm>

namespace heed {

KeysRegistry& keys_registry() {
  static KeysRegistry& registry = []() -> KeysRegistry& {
    auto& all = *new KeysRegistry;
    register_keys(all);
    return all;
  }();
  return registry;
}

SectionKeys::SectionKeys(const std::string& section) {
  for (const auto& [type, config] : keys_registry().of(section)) {
    keys_.emplace_back(type, Choice(section, config, config->copy(nullptr)));
  }
}

size_t SectionKeys::index_of(std::type_index type) const {
  const auto found = std::find_if(keys_.begin(), keys_.end(),
                                  [&](const auto& each) { return each.first == type; });
  require<ConfigError>(found != keys_.end(), "SectionKeys: ", type.name(),
                       " is not registered for this section; expected a line HEED_KEYS");
  return static_cast<size_t>(found - keys_.begin());
}

void SectionKeys::own_fields(Fields& f) {
  for (auto& [type, keys] : keys_) {
    const ConfigRef own = keys.own_config();
    own.of->declare(own.config, f);
  }
}

void SectionKeys::check(ConfigErrors& errors, const ConfigNode& at) const {
  for (const auto& [type, keys] : keys_) {
    keys.config().of->check(keys.config().config, errors, at);
  }
}

}  // namespace heed
