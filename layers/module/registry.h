// Registries make objects by the `type` in a config: layers here; optimizers, schedules and tasks
// in train/. The header that defines a layer ends in HEED_LAYER(Class, "name"). The build collects
// these lines into one function, register_layers(). So there is no list to edit, and no static
// registration object that a linker may drop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <typeindex>

#include "layers/config/types.h"
#include "layers/module/module.h"

namespace heed {

// A registry of classes derived from Base. Each class needs `struct Config` with fields(),
// `static constexpr const char* help`, and a constructor (const Config&, Arguments...).
template <class Base, class... Arguments>
class Registry {
 public:
  explicit Registry(std::string kind) : types_(&config_types(kind)) {}

  // Returns a registry that lives as long as the process, after calling `fill` on it.
  static Registry& filled(const char* kind, void (*fill)(Registry&)) {
    auto& registry = *new Registry(kind);
    fill(registry);
    return registry;
  }

  template <class Class>
  void add(const std::string& name) {
    types_->add(config_type<typename Class::Config>(name, Class::help));
    names_[typeid(Class)] = name;
    makers_[name] = [](const ConfigNode& options, const Arguments&... arguments) {
      return std::unique_ptr<Base>(
          std::make_unique<Class>(read_fields<typename Class::Config>(options), arguments...));
    };
  }

  // Throws ConfigError for an unknown type (naming the nearest) and for wrong options.
  std::unique_ptr<Base> make(const Spec& spec, const Arguments&... arguments) const {
    const auto maker = makers_.find(spec.type);
    if (maker == makers_.end()) {
      const std::string near = nearest(spec.type, types_->names());
      fail<ConfigError>("unknown ", types_->kind(), " \"", spec.type, "\"",
                        near.empty() ? "" : ", did you mean " + near + "?");
    }
    return maker->second(spec.options, arguments...);
  }

  // The name under which the object's class is registered, or "".
  std::string name_of(const Base& thing) const {
    const auto name = names_.find(typeid(thing));
    return name == names_.end() ? "" : name->second;
  }

  const ConfigTypes& types() const { return *types_; }

 private:
  ConfigTypes* types_;
  std::map<std::type_index, std::string> names_;
  std::map<std::string,
           std::function<std::unique_ptr<Base>(const ConfigNode&, const Arguments&...)>>
      makers_;
};

using LayerRegistry = Registry<Module>;

// The registry of all layers.
LayerRegistry& layer_registry();

// Makes a layer from its type and options. Throws ConfigError.
std::unique_ptr<Module> make_layer(const LayerSpec& spec);
std::unique_ptr<Module> make_layer(const std::string& type, const ConfigNode& options = {});

// Adds all layers. The build generates this function from the HEED_LAYER lines of layers/*.h.
void register_layers(LayerRegistry& registry);

// Registers a layer: the build searches headers for these lines. The compiler only checks the base.
#define HEED_LAYER(Class, name) \
  static_assert(std::is_base_of_v<heed::Module, Class>, name " must derive from Module")

}  // namespace heed
