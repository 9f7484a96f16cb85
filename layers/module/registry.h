// Registries make objects by the `type` in a config: layers here; optimizers, schedules and tasks
// in train/. The header that defines a layer ends in HEED_LAYER(Class, "name"). The build collects
// these lines into one function, register_layers(). So there is no list to edit, and no static
// registration object that a linker may drop.
#pragma once

#include <concepts>
#include <map>
#include <memory>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include "layers/config/defaults.h"
#include "layers/config/read.h"
#include "layers/config/types.h"
#include "layers/module/module.h"

namespace heed {

// A registry of classes derived from Base. Each class needs `struct Config` with fields(),
// `static constexpr const char* help`, and a constructor (const Config&, Arguments...). If it has a
// static function make() with these arguments, that is called instead of the constructor.
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
    add(config_type<typename Class::Config>(name, Class::help), typeid(Class),
        {[](const void* config, const Arguments&... arguments) -> std::unique_ptr<Base> {
           const auto& c = *static_cast<const typename Class::Config*>(config);
           if constexpr (requires { Class::make(c, arguments...); }) {
             return Class::make(c, arguments...);
           } else {
             return std::make_unique<Class>(c, arguments...);
           }
         },
         [](const std::string& of, [[maybe_unused]] const Base& thing) {
           if constexpr (requires(const Class& c) {
                           { c.config } -> std::same_as<const typename Class::Config&>;
                         }) {
             return Choice(of, static_cast<const Class&>(thing).config);
           } else {
             return Choice(of);
           }
         }});
  }

  // Constructs what was chosen. Throws ConfigError for an unknown type, naming the nearest, and
  // what the constructor throws.
  std::unique_ptr<Base> make(const Choice& choice, const Arguments&... arguments) const {
    const ConfigType& type = types_->get(choice.type());
    const Choice whole = choice.has_config() ? choice : new_choice(type);
    return entries_.at(type.name).make(whole.config().config, arguments...);
  }

  // Reads the config of a type and constructs it. Throws ConfigError with all mistakes.
  std::unique_ptr<Base> make(const std::string& type, const ConfigNode& options,
                             const Arguments&... arguments) const {
    return make(read_options(types_->kind(), type, options), arguments...);
  }

  // One of each registered class, with its default options, in the order of their names.
  std::vector<std::unique_ptr<Base>> make_all(const Arguments&... arguments) const {
    std::vector<std::unique_ptr<Base>> all;
    for (const std::string& name : types_->names()) {
      all.push_back(make(name, ConfigNode::map({}), arguments...));
    }
    return all;
  }

  // One of the first class by name, for a door that one class answers; without any, Base itself.
  std::unique_ptr<Base> make_first() const {
    std::vector<std::unique_ptr<Base>> all = make_all();
    return all.empty() ? std::make_unique<Base>() : std::move(all.front());
  }

  // The name under which the object's class is registered, or "".
  std::string name_of(const Base& thing) const { return choice_of(thing).type(); }
  // The same with a copy of the object's config, if its class has a member `config`. Code that does
  // not know the class finds fields by name: choice_of(layer).find<double>("eps").
  Choice choice_of(const Base& thing) const {
    const auto name = names_.find(typeid(thing));
    return name == names_.end() ? Choice() : entries_.at(name->second).choice(name->second, thing);
  }

  const ConfigTypes& types() const { return *types_; }

 private:
  // Plain functions: one class costs the compiler a fraction of what std::function would.
  struct Entry {
    std::unique_ptr<Base> (*make)(const void* config, const Arguments&... arguments);
    Choice (*choice)(const std::string& name, const Base& thing);
  };
  [[gnu::noinline]] void add(ConfigType type, std::type_index of, Entry entry) {
    const std::string name = type.name;
    types_->add(std::move(type));  // throws if the name is taken
    names_.insert_or_assign(of, name);
    entries_.insert_or_assign(name, entry);
  }

  ConfigTypes* types_;
  std::map<std::type_index, std::string> names_;
  std::map<std::string, Entry> entries_;  // by name
};

using LayerRegistry = Registry<Module>;

// The registry of all layers.
LayerRegistry& layer_registry();

// Makes a layer that was chosen, or from its type and options. Throws ConfigError.
std::unique_ptr<Module> make_layer(const LayerChoice& choice);
std::unique_ptr<Module> make_layer(const std::string& type, const ConfigNode& options);

// Adds all layers. The build generates this function from the HEED_LAYER lines of layers/*.h.
void register_layers(LayerRegistry& registry);

// Registers a layer: the build searches headers for these lines. The compiler only checks the base.
#define HEED_LAYER(Class, name) \
  static_assert(std::is_base_of_v<heed::Module, Class>, name " must derive from Module")

}  // namespace heed
