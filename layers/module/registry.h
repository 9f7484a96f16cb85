// Makes things by the `type` of a config: layers here, optimizers, schedules and tasks in train/.
// What can be made is declared by HEED_LAYER(Class, "name") at the end of the header that defines
// the class; the build collects these lines into one function, so there is no list to edit and no
// registration that a linker may drop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <typeindex>

#include "layers/config/types.h"
#include "layers/module/module.h"

namespace heed {

// A class fits when it has `struct Config` with fields(), `static constexpr const char* help`, and
// a constructor (const Config&, Arguments...).
template <class Base, class... Arguments>
class Registry {
 public:
  explicit Registry(std::string kind) : types_(&config_types(kind)) {}

  // A registry that lives as long as the process, with what `fill` adds to it.
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

  // The name a thing was registered under; "" when its class never was.
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

// All layers of this process.
LayerRegistry& layer_registry();

// A layer by its type and options.
std::unique_ptr<Module> make_layer(const LayerSpec& spec);
std::unique_ptr<Module> make_layer(const std::string& type, const ConfigNode& options = {});

// Filled in by the build from the HEED_LAYER lines of layers/*.h.
void register_layers(LayerRegistry& registry);

// The line that the build looks for; to the compiler it is a check.
#define HEED_LAYER(Class, name) \
  static_assert(std::is_base_of_v<heed::Module, Class>, name " must derive from Module")

}  // namespace heed
